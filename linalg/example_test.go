package linalg_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/linalg"
)

// The leading eigenpair of a symmetric matrix, without the others.
func Example() {
	a := blas64.General{Rows: 3, Cols: 3, Stride: 3, Data: []float64{
		2, 1, 0,
		1, 2, 0,
		0, 0, 1,
	}}
	top, err := linalg.TopEigen(a, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f %.3f\n", top.Values, top.Vectors.Data)
	// Output: [3.000] [0.707 0.707 0.000]
}
