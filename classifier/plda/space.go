package plda

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
	// scatterRows is the number of rows from which a d×d product pays.
	scatterRows = 512
	// floor is the least between-class variance before shrinkage.
	floor = 1e-6
	// betaAlone is β where one base class says nothing about it.
	betaAlone = 1
)

// A space holds what all classes share: where the origin is, how to whiten,
// and how much class means vary in each direction. It is immutable.
type space struct {
	origin     []float64      // m₀
	whiten     blas64.General // L⁻¹, d×d lower triangle
	directions blas64.General // V, r×d, orthonormal
	beta       []float64      // β along V
	rest       float64        // β₀ in the other d−r directions
}

// A basis is what the base session says before ε is chosen.
type basis struct {
	groups []classifier.Group
	totals []moments.Total
	means  blas64.General // C×d
	within blas64.General // S, d×d
}

// fitBasis computes means and S from the base session.
func fitBasis(ctx context.Context, x blas32.General, groups []classifier.Group, totals []moments.Total) (*basis, error) {
	b := &basis{groups: groups, totals: totals, means: linalg.New64(len(totals), x.Cols)}
	for i, t := range totals {
		copy(b.means.Data[i*b.means.Stride:], t.Mean())
	}
	var err error
	b.within, err = within(ctx, x, groups, totals)
	return b, err
}

// space returns the shared part for one ε.
func (b *basis) space(epsilon float64) (*space, error) {
	means, W := clone(b.means), clone(b.within)
	sp := &space{origin: meanRow(means)}
	shrink(W, epsilon, spread(means, sp.origin))
	var err error
	if sp.whiten, err = linalg.InverseCholesky(W); err != nil {
		return nil, err
	}
	return sp, sp.fitBetween(means, b.totals)
}

func clone(m blas64.General) blas64.General {
	m.Data = slices.Clone(m.Data)
	return m
}

// within returns S, the covariance pooled within the classes, divisor Σ(n−1);
// zeros where every class has one example.
func within(ctx context.Context, x blas32.General, groups []classifier.Group, totals []moments.Total) (blas64.General, error) {
	S := linalg.New64(x.Cols, x.Cols)
	pending := linalg.New64(0, x.Cols)
	for i, g := range groups {
		if err := ctx.Err(); err != nil {
			return S, err
		}
		z := classifier.Placed(x, g.Rows, true)
		subtractRow(z, totals[i].Mean())
		pending.Data = append(pending.Data, z.Data...)
		pending.Rows += z.Rows
		if pending.Rows >= scatterRows || i == len(groups)-1 {
			if err := addScatter(S, pending); err != nil {
				return S, err
			}
			pending.Rows, pending.Data = 0, pending.Data[:0]
		}
	}
	if degrees := x.Rows - len(groups); degrees > 0 {
		for i := range S.Data {
			S.Data[i] /= float64(degrees)
		}
	}
	return S, nil
}

// addScatter adds Σ z·zᵀ over the rows of z.
func addScatter(S, z blas64.General) error {
	part, err := linalg.Scatter(z)
	if err != nil {
		return err
	}
	for i, v := range part.Data {
		S.Data[i] += v
	}
	return nil
}

// spread is the mean variance a coordinate of the class means, 1/d (the
// length of all embeddings) where they are all the same.
func spread(means blas64.General, origin []float64) float64 {
	var sq float64
	for i := range means.Rows {
		for j, v := range means.Data[i*means.Stride : i*means.Stride+means.Cols] {
			sq += (v - origin[j]) * (v - origin[j])
		}
	}
	if d := float64(means.Cols); sq > 1e-12 {
		return sq / float64(means.Rows) / d
	}
	return 1 / float64(means.Cols)
}

// shrink turns S into W = (1−ε)S + ε·tr(S)/d·I; where S is zero to working
// precision, W = otherwise·I.
func shrink(S blas64.General, epsilon, otherwise float64) {
	d := S.Rows
	var trace float64
	for i := range d {
		trace += S.Data[i*S.Stride+i]
	}
	add := epsilon * trace / float64(d)
	if trace < 1e-12 {
		clear(S.Data)
		add = otherwise
	}
	for i := range S.Data {
		S.Data[i] *= 1 - epsilon
	}
	for i := range d {
		S.Data[i*S.Stride+i] += add
	}
}

// fitBetween finds V and β from the base class means.
func (sp *space) fitBetween(means blas64.General, totals []moments.Total) error {
	C, d := means.Rows, means.Cols
	white, err := sp.whitened(means)
	if err != nil {
		return err
	}
	e := linalg.Eigen{Vectors: linalg.New64(0, d)}
	if C > 1 {
		if e, err = betweenPairs(white); err != nil {
			return err
		}
	}
	sp.directions, sp.rest = e.Vectors, betaAlone
	if C > 1 {
		sp.setBeta(e.Values, totals)
	}
	return nil
}

// betweenPairs returns the eigenpairs of the covariance of the rows (divisor
// C−1) that are not zero, from the smaller of the C×C and the d×d matrix.
func betweenPairs(white blas64.General) (linalg.Eigen, error) {
	C, d := white.Rows, white.Cols
	if C <= d {
		return linalg.ThinEigen(white, C-1, float64(C-1))
	}
	s, err := linalg.Scatter(white)
	if err != nil {
		return linalg.Eigen{}, err
	}
	e, err := linalg.TopEigen(s, d)
	for i := range e.Values {
		e.Values[i] /= float64(C - 1)
	}
	return e, err
}

// setBeta turns eigenvalues b, zero in the directions without one, into
// β = max(b − mean(1/n), floor), then half of it and half of its mean.
func (sp *space) setBeta(b []float64, totals []moments.Total) {
	var noise float64
	for _, t := range totals {
		noise += 1 / float64(t.N) / float64(len(totals))
	}
	d := float64(len(sp.origin))
	sp.beta = make([]float64, len(b))
	mean := floor * (d - float64(len(b))) / d
	for i, v := range b {
		sp.beta[i] = max(v-noise, floor)
		mean += sp.beta[i] / d
	}
	for i := range sp.beta {
		sp.beta[i] = (sp.beta[i] + mean) / 2
	}
	sp.rest = (floor + mean) / 2
}

// whitened returns L⁻¹(z−m₀) of the rows of z, which it centres.
func (sp *space) whitened(z blas64.General) (blas64.General, error) {
	subtractRow(z, sp.origin)
	white := linalg.New64(z.Rows, z.Cols)
	return white, linalg.MulTrans64(white, z, sp.whiten)
}

// along returns the coordinates V·z of whitened rows.
func (sp *space) along(white blas64.General) (blas64.General, error) {
	out := linalg.New64(white.Rows, len(sp.beta))
	if len(sp.beta) == 0 {
		return out, nil
	}
	return out, linalg.MulTrans64(out, white, sp.directions)
}

func meanRow(z blas64.General) []float64 {
	mean := make([]float64, z.Cols)
	for i := range z.Rows {
		for j, v := range z.Data[i*z.Stride : i*z.Stride+z.Cols] {
			mean[j] += v / float64(z.Rows)
		}
	}
	return mean
}

func subtractRow(z blas64.General, row []float64) {
	for i := range z.Rows {
		for j, v := range row {
			z.Data[i*z.Stride+j] -= v
		}
	}
}

// logSum1 returns Σ log(1+v) for v = β/(1+nβ) along V and in the rest.
func (sp *space) logSum1(n float64) float64 {
	sum := (float64(len(sp.origin)) - float64(len(sp.beta))) * math.Log1p(variance(sp.rest, n))
	for _, b := range sp.beta {
		sum += math.Log1p(variance(b, n))
	}
	return sum
}

// variance is v = β/(1+nβ), that of a class mean after n examples.
func variance(beta, n float64) float64 { return beta / (1 + n*beta) }

// gain is β/(β+1/n), how far the posterior mean goes to that of the examples.
func gain(beta, n float64) float64 { return n * beta / (1 + n*beta) }
