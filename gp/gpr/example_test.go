package gpr_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/gpr"
)

// The sign of a number, learned from one example at a time.
func Example() {
	r, err := gpr.New(gpr.RBF{Lengthscale: 1, Outputscale: 1}, gpr.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range []float64{-2, -1, 1, 2} {
		if err := r.Add(context.Background(), column(v), column(math.Copysign(1, v))); err != nil {
			fmt.Println(err)
			return
		}
	}
	query, mean, variance := column(1.5, 9), column(0, 0), make([]float64, 2)
	if err := r.Mean(mean, query); err != nil {
		fmt.Println(err)
		return
	}
	if err := r.Variance(variance, query); err != nil {
		fmt.Println(err)
		return
	}
	for i, at := range query.Data {
		fmt.Printf("at %.1f: %.2f ± %.2f\n", at, mean.Data[i], math.Sqrt(variance[i]))
	}
	// Output:
	// at 1.5: 1.11 ± 0.28
	// at 9.0: 0.00 ± 1.01
}

func column(values ...float64) blas64.General {
	return blas64.General{Rows: len(values), Cols: 1, Stride: 1, Data: values}
}
