package vargp_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp"
)

// One task: left against right.
func Example() {
	cfg := vargp.DefaultConfig()
	cfg.Epochs, cfg.Steps, cfg.Rate = 60, 0, 0.05
	m, err := vargp.New(cfg, 2, 2, 1) // two values, two classes, one function each
	if err != nil {
		fmt.Println(err)
		return
	}
	x := points(-1.5, -1, -1.4, 1, -1.6, 0, 1.5, 1, 1.4, -1, 1.6, 0)
	task := vargp.Task{X: x, Y: []int{0, 0, 0, 1, 1, 1}, Inputs: []blas64.General{x}}
	if _, err := m.Learn(context.Background(), task); err != nil {
		fmt.Println(err)
		return
	}
	p, err := m.Predictor()
	if err != nil {
		fmt.Println(err)
		return
	}
	logProb := points(0, 0, 0, 0)
	if err := p.LogProb(logProb, points(-1.5, -1.5, 1.5, -1.5)); err != nil {
		fmt.Println(err)
		return
	}
	for i := range 2 {
		row := logProb.Data[2*i:][:2]
		fmt.Println("left is more probable:", row[0] > row[1])
	}
	// Output:
	// left is more probable: true
	// left is more probable: false
}

// points returns points of the plane, one per row.
func points(values ...float64) blas64.General {
	return blas64.General{Rows: len(values) / 2, Cols: 2, Stride: 2, Data: values}
}
