package vargp_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/vargp"
)

// Two classes, then a third.
func Example() {
	cfg := vargp.DefaultConfig()
	cfg.Epochs, cfg.Rate = 60, 0.05
	head, err := vargp.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	base := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, .1, 0, 1, .2, 0, .1, 1, 0, .2, 1, 0}}
	if err := head.Learn(context.Background(), base, []string{"ant", "ant", "bee", "bee"}); err != nil {
		fmt.Println(err)
		return
	}
	later := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{0, .1, 1, 0, .2, 1}}
	if err := head.Learn(context.Background(), later, []string{"cat", "cat"}); err != nil {
		fmt.Println(err)
		return
	}
	rows := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{.1, .1, 1, 1, 0, 0}}
	predictions, err := classifier.Predict(head, rows, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(predictions[0].Label, predictions[1].Label)
	// Output: cat ant
}
