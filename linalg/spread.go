package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Spread64 returns the root mean square distance of two rows of z (n×d), divided
// by √2, or 1 if all rows are the same.
func Spread64(z blas64.General) float64 {
	mean := make([]float64, z.Cols)
	var sq float64
	for i := range z.Rows {
		for j, v := range dense.Row(z, i) {
			mean[j] += v / float64(z.Rows)
		}
	}
	for i := range z.Rows {
		for j, v := range dense.Row(z, i) {
			sq += (v - mean[j]) * (v - mean[j])
		}
	}
	if sq /= float64(z.Rows); sq > 1e-12 {
		return math.Sqrt(sq)
	}
	return 1
}
