package gauss

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
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

// A Basis is what the base session says before ε is chosen.
type Basis struct {
	groups []classifier.Group
	totals []moments.Total
	means  blas64.General // C×d
	within blas64.General // S, d×d
	solver linalg.Solver
}

// Fit computes class means and S from the base session: row i of x (n×d) is
// scaled to length 1, groups are its classes and totals those of the scaled
// rows; mul makes the products. O(nd²).
func Fit(ctx context.Context, mul linalg.Backend, x blas32.General, groups []classifier.Group, totals []moments.Total) (*Basis, error) {
	b := newBasis(mul, groups, totals, x.Cols)
	return b, b.addExamples(ctx, x)
}

// FitMoments is Fit from the statistics of the scaled rows, those of a class at
// its place in groups and totals. O(Cd²).
func FitMoments(ctx context.Context, mul linalg.Backend, groups []classifier.Group, totals []moments.Total, stats []*moments.Moments) (*Basis, error) {
	b := newBasis(mul, groups, totals, stats[0].Dim())
	for _, m := range stats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.addWithin(m); err != nil {
			return nil, err
		}
	}
	b.divide()
	return b, nil
}

// addWithin adds the scatter of a class about its mean.
func (b *Basis) addWithin(m *moments.Moments) error {
	if m.N() < 2 {
		return nil
	}
	cov, err := m.Covariance()
	if err != nil {
		return err
	}
	for i, v := range cov.Data {
		b.within.Data[i] += float64(m.N()-1) * v
	}
	return nil
}

// divide turns sums of squares into S; zeros where every class has one example.
func (b *Basis) divide() {
	for i := range b.within.Data {
		b.within.Data[i] /= float64(max(b.Degrees(), 1))
	}
}

func newBasis(mul linalg.Backend, groups []classifier.Group, totals []moments.Total, d int) *Basis {
	b := &Basis{groups: groups, totals: totals, means: dense.New(len(totals), d), within: dense.New(d, d), solver: linalg.Solver{Backend: mul}}
	for i, t := range totals {
		copy(b.means.Data[i*b.means.Stride:], t.Mean())
	}
	return b
}

// Degrees is Σ(n−1), the degrees of freedom of S.
func (b *Basis) Degrees() int {
	degrees := 0
	for _, t := range b.totals {
		degrees += t.N - 1
	}
	return degrees
}

// Examples is the number of rows of the base session.
func (b *Basis) Examples() int { return b.Degrees() + len(b.totals) }

// Dim returns d.
func (b *Basis) Dim() int { return b.means.Cols }

// Space returns the shared part for one ε, 0 < ε ≤ 1. O(d³).
func (b *Basis) Space(epsilon float64) (*Space, error) {
	means, W := dense.Clone(b.means), dense.Clone(b.within)
	sp := &Space{Origin: meanRow(means), mul: b.solver.Backend}
	shrink(W, epsilon, spread(means, sp.Origin))
	var err error
	if sp.Whiten, err = linalg.InverseCholesky(W); err != nil {
		return nil, err
	}
	return sp, sp.fitBetween(b.solver, means, b.totals)
}

// addExamples makes S, the covariance pooled within the classes, divisor
// Σ(n−1).
func (b *Basis) addExamples(ctx context.Context, x blas32.General) error {
	pending := dense.New(0, x.Cols)
	for i, g := range b.groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		z := classifier.Placed(x, g.Rows, true)
		subtractRow(z, b.totals[i].Mean())
		pending.Data = append(pending.Data, z.Data...)
		pending.Rows += z.Rows
		if pending.Rows >= scatterRows || i == len(b.groups)-1 {
			if err := b.addScatter(pending); err != nil {
				return err
			}
			pending.Rows, pending.Data = 0, pending.Data[:0]
		}
	}
	b.divide()
	return nil
}

// addScatter adds Σ z·zᵀ over the rows of z.
func (b *Basis) addScatter(z blas64.General) error {
	part, err := b.solver.Scatter(z)
	if err != nil {
		return err
	}
	for i, v := range part.Data {
		b.within.Data[i] += v
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
func (sp *Space) fitBetween(solver linalg.Solver, means blas64.General, totals []moments.Total) error {
	C, d := means.Rows, means.Cols
	white, err := sp.Whitened(means)
	if err != nil {
		return err
	}
	e := linalg.Eigen{Vectors: dense.New(0, d)}
	if C > 1 {
		if e, err = betweenPairs(solver, white); err != nil {
			return err
		}
	}
	sp.Directions, sp.Rest = e.Vectors, betaAlone
	if C > 1 {
		sp.setBeta(e.Values, totals)
	}
	return nil
}

// betweenPairs returns the eigenpairs of the covariance of the rows (divisor
// C−1) that are not zero, from the smaller of the C×C and the d×d matrix.
func betweenPairs(solver linalg.Solver, white blas64.General) (linalg.Eigen, error) {
	C, d := white.Rows, white.Cols
	if C <= d {
		return solver.ThinEigen(white, C-1, float64(C-1))
	}
	s, err := solver.Scatter(white)
	if err != nil {
		return linalg.Eigen{}, err
	}
	e, err := solver.TopEigen(s, d)
	for i := range e.Values {
		e.Values[i] /= float64(C - 1)
	}
	return e, err
}

// setBeta turns eigenvalues b, zero in the directions without one, into
// β = max(b − mean(1/n), floor), then half of it and half of its mean.
func (sp *Space) setBeta(b []float64, totals []moments.Total) {
	var noise float64
	for _, t := range totals {
		noise += 1 / float64(t.N) / float64(len(totals))
	}
	d := float64(len(sp.Origin))
	sp.Beta = make([]float64, len(b))
	mean := floor * (d - float64(len(b))) / d
	for i, v := range b {
		sp.Beta[i] = max(v-noise, floor)
		mean += sp.Beta[i] / d
	}
	for i := range sp.Beta {
		sp.Beta[i] = (sp.Beta[i] + mean) / 2
	}
	sp.Rest = (floor + mean) / 2
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
