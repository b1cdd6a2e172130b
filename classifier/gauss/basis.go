package gauss

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const (
	// scatterRows is the number of rows from which a d×d product is faster.
	scatterRows = 512
	// floor is the minimum between-class variance before shrinkage.
	floor = 1e-6
	// betaAlone is β when a single base class says nothing about it.
	betaAlone = 1
)

// A Basis holds what the base session determines before ε is chosen.
type Basis struct {
	totals []moments.Total
	means  blas64.General // C×d
	within blas64.General // S, d×d
	solver linalg.Solver
}

// Fit computes class means and S, the covariance pooled within the classes with
// divisor Σ(n−1), from a base session of embeddings of length 1; totals holds
// its first moments. O(nd²), or O(Cd²) from statistics.
func Fit(ctx context.Context, backend linalg.Backend, s *moments.Session, totals []moments.Total) (*Basis, error) {
	b := &Basis{totals: totals, means: meansOf(totals, s.Dim), within: dense.New(s.Dim, s.Dim), solver: linalg.Solver{Backend: backend}}
	pending := dense.New(0, s.Dim)
	for i, e := range s.Classes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if stats := e.Stats(); stats != nil {
			if stats.N() > 1 {
				cov, err := stats.Covariance()
				if err != nil {
					return nil, err
				}
				b.addWithin(cov, float64(stats.N()-1))
			}
			continue
		}
		z := e.Float64()
		dense.SubtractRow(z, dense.Row(b.means, i))
		pending.Data = append(pending.Data, z.Data...)
		pending.Rows += z.Rows
		if pending.Rows >= scatterRows || i == len(s.Classes)-1 {
			part, err := b.solver.Scatter(pending)
			if err != nil {
				return nil, err
			}
			b.addWithin(part, 1)
			pending.Rows, pending.Data = 0, pending.Data[:0]
		}
	}
	for i := range b.within.Data { // zeros if every class has one example
		b.within.Data[i] /= float64(max(b.Degrees(), 1))
	}
	return b, nil
}

// addWithin adds weight·m to the sum that will be S.
func (b *Basis) addWithin(m blas64.General, weight float64) {
	for i, v := range m.Data {
		b.within.Data[i] += weight * v
	}
}

// meansOf returns the means of classes as rows.
func meansOf(totals []moments.Total, d int) blas64.General {
	means := dense.New(len(totals), d)
	for i, t := range totals {
		copy(dense.Row(means, i), t.Mean())
	}
	return means
}

// Degrees returns Σ(n−1), the degrees of freedom of S.
func (b *Basis) Degrees() int {
	degrees := 0
	for _, t := range b.totals {
		degrees += t.N - 1
	}
	return degrees
}

// Examples returns the number of rows of the base session.
func (b *Basis) Examples() int { return b.Degrees() + len(b.totals) }

// Dim returns d.
func (b *Basis) Dim() int { return b.means.Cols }

// Space returns the shared part for a given ε, 0 < ε ≤ 1. O(d³).
func (b *Basis) Space(epsilon float64) (*Space, error) {
	means, W := dense.Clone(b.means), dense.Clone(b.within)
	sp := &Space{Origin: dense.MeanRow(means), mul: b.solver.Backend}
	shrink(W, epsilon, spread(means, sp.Origin))
	var err error
	if sp.Whiten, err = linalg.InverseCholesky(W); err != nil {
		return nil, err
	}
	return sp, sp.fitBetween(b.solver, means, b.totals)
}

// spread returns the mean variance per coordinate of the class means, or 1/d
// (from embeddings of length 1) if they are all the same.
func spread(means blas64.General, origin []float64) float64 {
	var sq float64
	for i := range means.Rows {
		for j, v := range dense.Row(means, i) {
			sq += (v - origin[j]) * (v - origin[j])
		}
	}
	if d := float64(means.Cols); sq > 1e-12 {
		return sq / float64(means.Rows) / d
	}
	return 1 / float64(means.Cols)
}

// shrink turns S into W = (1−ε)S + ε·tr(S)/d·I; if S is zero to working
// precision, W = otherwise·I.
func shrink(S blas64.General, epsilon, otherwise float64) {
	d := S.Rows
	trace := dense.Trace(S)
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

// fitBetween computes V and β from the base class means.
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

// betweenPairs returns the nonzero eigenpairs of the covariance of the rows
// (divisor C−1), from the smaller of the C×C and the d×d matrix.
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

// setBeta turns eigenvalues b, zero in the directions without one, into β =
// max(b − mean(1/n), floor), averaged with its mean.
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
