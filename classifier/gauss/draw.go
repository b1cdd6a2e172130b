package gauss

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Mean returns μ, the mean of the density in whitened coordinates (d), which the
// caller must not change.
func (p *Density) Mean() []float64 { return p.mean }

// Deviations turns rows e (m×d) with covariance I into deviations from the mean
// of a class of n examples, with the covariance I+v of the pooled predictive
// density. O(mdr).
func (sp *Space) Deviations(e blas64.General, n int) (blas64.General, error) {
	along, err := sp.Along(e)
	if err != nil {
		return along, err
	}
	rest := math.Sqrt(1 + sp.variance(sp.Rest, float64(n)))
	for i, b := range sp.Beta {
		more := math.Sqrt(1+sp.variance(b, float64(n))) - rest
		for j := range along.Rows {
			along.Data[j*along.Stride+i] *= more
		}
	}
	out := dense.New(e.Rows, e.Cols)
	if len(sp.Beta) > 0 {
		if err := sp.Backend().MulTrans64(out, along, dense.Transposed(sp.Directions)); err != nil {
			return out, err
		}
	}
	dense.Add(out, rest, e)
	return out, nil
}
