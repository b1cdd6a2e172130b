package neighbours_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/label/neighbours"
	"github.com/seed-90d10d51/pipeline/linalg"
)

func Example() {
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 1, 5, 7}}
	g, err := neighbours.Find(context.Background(), linalg.Backend{}, x, 1, 1, func(float64) {})
	if err != nil {
		panic(err)
	}
	for i := range x.Rows {
		near, squares := g.Of(i)
		fmt.Println(i, near, squares)
	}
	// Output:
	// 0 [1] [1]
	// 1 [0] [1]
	// 2 [3] [4]
	// 3 [2] [4]
}
