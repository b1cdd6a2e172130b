package kernel_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
)

func Example() {
	k := kernel.Kernel{Kind: kernel.RBF, Normalize: true, Lengthscale: 1, Outputscale: 4}
	p, err := k.Points(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{3, 0, 0, 5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", k.Gram(p).Data)
	// Output: [4.000 1.472 1.472 4.000]
}
