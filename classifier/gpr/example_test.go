package gpr_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
)

// Two classes, and a row that is of neither.
func Example() {
	h, err := gpr.New(gpr.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, 0, 0, 1, .1, 0, 0, 1, 0, .1, 1, 0}}
	if err := h.Learn(context.Background(), x, []string{"ant", "ant", "bee", "bee"}); err != nil {
		fmt.Println(err)
		return
	}
	query := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{0.2, 1, 0, 0, 0, 1}}
	predictions, err := classifier.Predict(h, query, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, novelty %.2f; unknown: novelty %.2f\n", predictions[0].Label, predictions[0].Novelty,
		predictions[1].Novelty)
	// Output: bee, novelty -7.03; unknown: novelty -1.00
}
