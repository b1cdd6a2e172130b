package hppca_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/hppca"
)

func Example() {
	cfg := hppca.DefaultConfig()
	cfg.S, cfg.T = 2, 1 // two super-classes, one visited
	head, err := hppca.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0, 1, 0.1, 0, 1, 0.1, 1}}
	if err := head.Learn(context.Background(), x, []string{"flat", "flatter", "steep", "steeper"}); err != nil {
		fmt.Println(err)
		return
	}
	visits, err := head.Visits(blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0.01, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(head.Classes()[visits[0].Column], "after scoring", visits[0].Neurons, "Gaussians")
	// Output: steep after scoring 4 Gaussians
}
