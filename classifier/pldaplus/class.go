package pldaplus

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// class is one class, with what scoring needs. It is never changed, only
// replaced.
type class struct {
	moments.Total
	base bool // of the first session
	own  spread
	// logit is its row of the logistic regression, d weights and a constant; nil
	// without one.
	logit   []float64
	density *gauss.Density
	plain   *gauss.Density // with the shared covariance, if density has its own
	unit    []float64      // the whitened mean, of length 1
}

// spread is the variation within a class, in whitened coordinates.
type spread struct {
	values   []float64 // w, leading eigenvalues of its covariance, divisor n−1
	vectors  []float32 // U, one row of d per value
	residual float64   // r, mean variance in the remaining directions
}

// fitSpread computes the q leading eigenpairs of a class in whitened
// coordinates.
func fitSpread(sp *gauss.Space, m *moments.Moments, q int) (spread, error) {
	d := sp.Dim()
	if m.N() < 2 {
		return spread{}, nil
	}
	e, trace, err := eigenpairs(sp, m, min(q, m.N()-1, d))
	if err != nil {
		return spread{}, err
	}
	out := spread{values: e.Values, vectors: dense.Narrowed(e.Vectors.Data)}
	for _, w := range e.Values {
		trace -= w
	}
	if left := d - len(e.Values); left > 0 {
		out.residual = max(trace, 0) / float64(left)
	}
	return out, nil
}

// eigenpairs returns the eigenpairs of the whitened covariance, and its trace.
func eigenpairs(sp *gauss.Space, m *moments.Moments, q int) (linalg.Eigen, float64, error) {
	solver := linalg.Solver{Backend: sp.Backend()}
	if rows, ok := m.Centred(); ok {
		white, err := sp.Turned(rows)
		if err != nil {
			return linalg.Eigen{}, 0, err
		}
		e, err := solver.ThinEigen(white, q, float64(m.N()-1))
		return e, dense.SumSquares(white.Data) / float64(m.N()-1), err
	}
	S, err := whitenedCovariance(sp, m)
	if err != nil {
		return linalg.Eigen{}, 0, err
	}
	trace := dense.Trace(S)
	e, err := solver.TopEigen(S, q)
	return e.Positive(1e-12), trace, err
}

// whitenedCovariance returns L⁻¹·S·L⁻ᵀ.
func whitenedCovariance(sp *gauss.Space, m *moments.Moments) (blas64.General, error) {
	S, err := m.Covariance()
	if err != nil {
		return S, err
	}
	half, err := sp.Turned(S) // S·L⁻ᵀ
	if err != nil {
		return S, err
	}
	return sp.Turned(dense.Transposed(half))
}

// leastNoise keeps the covariance of equal examples from being singular.
const leastNoise = 1e-9

// shrunkTo returns the class model for one ν: with ρ = (n−1)/(n−1+ν),
// C = diag(1−ρ+ρr+v) + ρ·U·diag(w−r)₊·Uᵀ and df = ν+n−1. A class without examples
// has the spread of one with a single example.
func (s spread) shrunkTo(nu float64, n int, mean []float64, student bool) gauss.Class {
	c := gauss.Class{N: n, Mean: mean, Noise: 1}
	if nu >= Pooled {
		return c
	}
	degrees := float64(max(n, 1) - 1)
	rho := degrees / (degrees + nu)
	c.Noise = max(1-rho+rho*s.residual, leastNoise)
	d := len(mean)
	for i, w := range s.values {
		if more := rho * (w - s.residual); more > 1e-12*c.Noise {
			c.Values = append(c.Values, more)
			c.Vectors = append(c.Vectors, s.vectors[i*d:(i+1)*d]...)
		}
	}
	if student {
		c.Degrees = nu + degrees
	}
	return c
}

// totals returns the first moments of classes.
func totals(classes []class) []moments.Total {
	out := make([]moments.Total, len(classes))
	for i, c := range classes {
		out[i] = c.Total
	}
	return out
}

// densities returns the predictive densities of classes, and their whitened
// means scaled to length 1.
func densities(sp *gauss.Space, classes []class, nu float64, student bool) ([]*gauss.Density, [][]float64, error) {
	white, err := sp.Means(totals(classes))
	if err != nil {
		return nil, nil, err
	}
	models, units := make([]gauss.Class, len(classes)), make([][]float64, len(classes))
	for i, c := range classes {
		mean := dense.Row(white, i)
		models[i] = c.own.shrunkTo(nu, c.N, mean, student)
		units[i] = moments.Total{N: 1, Sum: mean}.Direction()
	}
	out, err := sp.Densities(models)
	return out, units, err
}
