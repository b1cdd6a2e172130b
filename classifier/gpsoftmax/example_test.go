package gpsoftmax_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
)

func Example() {
	cfg := gpsoftmax.DefaultOVE()
	cfg.Chains, cfg.Steps = 2, 20
	head, err := gpsoftmax.New(gpsoftmax.OVE, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0.1, 1, 0.2, 0.1, 1, 0.3, 1}}
	if err := head.Learn(context.Background(), x, []string{"flat", "flat", "steep", "steep"}); err != nil {
		fmt.Println(err)
		return
	}
	row := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.2, 1}}
	predictions, err := classifier.Predict(head, row, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(predictions[0].Label)
	// Output: steep
}
