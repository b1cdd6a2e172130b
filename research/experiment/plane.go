package experiment

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Plane returns the points (n²×2) of a grid over the square from −reach to reach,
// row by row from the lowest.
func Plane(n int, reach float64) blas64.General {
	x := dense.New(n*n, 2)
	for i := range n {
		for j := range n {
			x.Data[2*(i*n+j)] = -reach + 2*reach*float64(j)/float64(n-1)
			x.Data[2*(i*n+j)+1] = -reach + 2*reach*float64(i)/float64(n-1)
		}
	}
	return x
}
