package gauss_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
)

// Two classes of nine examples in the space that some rows define, and how probable a row is
// under each, up to a constant.
func Example() {
	rows := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{3, 0, -3, 0, 0, 1, 0, -1}}
	space := gauss.Isotropic(rows)
	densities, err := space.Densities([]gauss.Class{
		{N: 9, Mean: []float64{1, 0}, Noise: 1},
		{N: 9, Mean: []float64{-1, 0}, Noise: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, err := space.Stack(densities).LogDensities(
		blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{.8, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f nats\n", scores.Data)
	// Output: [-0.0925 -1.3446] nats
}
