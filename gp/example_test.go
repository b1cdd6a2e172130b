package gp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
)

func Example() {
	k := kernel.Kernel{Kind: kernel.RBF, Lengthscale: 1, Outputscale: 4}
	x, _ := k.Points(blas64.General{Rows: 6, Cols: 1, Stride: 1, Data: []float64{-2, -1.5, -1, 1, 1.5, 2}})
	z, _ := k.Points(blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{-1.5, 1.5, 9}})
	gram := k.Gram(x)
	prior, err := gp.FunctionSpace(gram)
	if err != nil {
		fmt.Println(err)
		return
	}
	right := []bool{false, false, false, true, true, true}
	streams := func(chain int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(chain))) }
	node, err := gp.FitGibbs(context.Background(), prior, right, gp.Schedule{Chains: 30, Steps: 10}, streams)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, variances := blas64.General{Rows: 3, Cols: 6, Stride: 6, Data: make([]float64, 18)}, make([]float64, 3)
	k.Cross(rows, z, x)
	k.Diagonal(variances, z)
	latent, err := node.Latent(rows, variances)
	if err != nil {
		fmt.Println(err)
		return
	}
	yes, no := make([]float64, 3), make([]float64, 3)
	latent.LogProbs(yes, no, gp.Quadrature)
	for _, l := range yes {
		fmt.Printf("%.1f ", math.Exp(l))
	}
	// Output: 0.2 0.8 0.5
}

func ExampleVI() {
	k := kernel.Kernel{Kind: kernel.RBF, Lengthscale: 1, Outputscale: 4}
	x, _ := k.Points(blas64.General{Rows: 6, Cols: 1, Stride: 1, Data: []float64{-2, -1.5, -1, 1, 1.5, 2}})
	z, _ := k.Points(blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{-1.5, 1.5}})
	gram := k.Gram(z)
	node, err := gp.NewVI(gram)
	if err != nil {
		fmt.Println(err)
		return
	}
	knm, knn := blas64.General{Rows: 6, Cols: 2, Stride: 2, Data: make([]float64, 12)}, make([]float64, 6)
	k.Cross(knm, x, z)
	k.Diagonal(knn, x)
	all, err := node.Batch(knm, knn, []bool{false, false, false, true, true, true})
	if err != nil {
		fmt.Println(err)
		return
	}
	bounds, err := node.Fit(context.Background(), all, 100, 1e-9)
	fmt.Printf("%.2f nats, then %.2f, %v\n", bounds[0], bounds[len(bounds)-1], err)
	// Output: -6.76 nats, then -3.32, <nil>
}
