package engine_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
)

// A stream of points along the diagonal of the plane: the model finds their mean and
// direction, and keeps none of them.
func Example() {
	model, err := engine.New(engine.DefaultConfig(), engine.Params{
		Mean: []float64{0, 0}, W: blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 0}}, Sigma2: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		t, noise := 2*rng.NormFloat64(), 0.1*rng.NormFloat64()
		if err := model.Step([]float64{5 + t, 3 + t + noise}); err != nil {
			fmt.Println(err)
			return
		}
	}
	g := model.Gaussian()
	fmt.Printf("mean %.0f, direction %.1f\n", g.Mean, g.W.Data[1]/g.W.Data[0])
	// Output: mean [5 3], direction 1.0
}
