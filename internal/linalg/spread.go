package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Spread64 is the root mean square distance of two rows of z (n×d), over √2; 1
// where they are all the same.
func Spread64(z blas64.General) float64 {
	mean := make([]float64, z.Cols)
	var sq float64
	for i := range z.Rows {
		for j, v := range z.Data[i*z.Stride : i*z.Stride+z.Cols] {
			mean[j] += v / float64(z.Rows)
		}
	}
	for i := range z.Rows {
		for j, v := range z.Data[i*z.Stride : i*z.Stride+z.Cols] {
			sq += (v - mean[j]) * (v - mean[j])
		}
	}
	if sq /= float64(z.Rows); sq > 1e-12 {
		return math.Sqrt(sq)
	}
	return 1
}
