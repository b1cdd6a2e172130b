package moments

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

var errEmpty = errors.New("no examples")

// Covariance returns the sample covariance (d×d, both triangles), divisor
// n−1; zeros for a single example.
func (m *Moments) Covariance() (blas64.General, error) {
	if m.n == 0 {
		return blas64.General{}, fmt.Errorf("covariance: %w", errEmpty)
	}
	divisor := float64(max(m.n-1, 1))
	if !m.Thin() {
		return m.unpack(1 / divisor), nil
	}
	s, err := m.solver.Scatter(centred(m.matrix(), m.Mean()))
	if err != nil {
		return blas64.General{}, fmt.Errorf("covariance: %w", err)
	}
	for i := range s.Data {
		s.Data[i] /= divisor
	}
	return s, nil
}

// Trace returns the sum of squared distances from the mean, tr(M2).
func (m *Moments) Trace() float64 {
	if !m.Thin() {
		return m.trace()
	}
	return dense.SumSquares(centred(m.matrix(), m.Mean()).Data)
}

// TopEigen returns the leading eigenpairs of the sample covariance (divisor
// n−1): at most q, at most n−1, and none that is zero to working precision. The
// vectors are accurate enough to be rounded to float32.
func (m *Moments) TopEigen(q int) (linalg.Eigen, error) {
	if m.n == 0 {
		return linalg.Eigen{}, fmt.Errorf("eigenpairs: %w", errEmpty)
	}
	q = min(q, m.n-1, m.d)
	if q <= 0 {
		return linalg.Eigen{Vectors: dense.New(0, m.d)}, nil
	}
	solver := m.solver
	solver.Float32 = true
	if m.Thin() {
		return solver.ThinEigen(centred(m.matrix(), m.Mean()), q, float64(m.n-1))
	}
	e, err := solver.TopEigen(m.unpack(1/float64(m.n-1)), q)
	if err != nil {
		return linalg.Eigen{}, err
	}
	return e.Positive(1e-14), nil
}

// unpack returns scale·M2 of the full form with both triangles.
func (m *Moments) unpack(scale float64) blas64.General {
	s := dense.New(m.d, m.d)
	p := 0
	for i := range m.d {
		for j := i; j < m.d; j++ {
			v := scale * m.m2[p]
			s.Data[i*m.d+j], s.Data[j*m.d+i] = v, v
			p++
		}
	}
	return s
}

// Centred returns the examples minus their mean (n×d, a copy) in the thin form,
// and false in the full form, which does not store them.
func (m *Moments) Centred() (blas64.General, bool) {
	if !m.Thin() {
		return blas64.General{}, false
	}
	return centred(m.matrix(), m.Mean()), true
}
