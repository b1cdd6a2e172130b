package moments_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
)

func Example() {
	here, there := moments.New(2), moments.New(2)
	_ = here.Add(blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0, 0, 2, 0}})
	_ = there.Add(blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{4, 3}})
	_ = here.Merge(there)
	c, _ := here.Covariance()
	fmt.Println(here.N(), here.Mean(), c.Data)
	// Output: 3 [2 1] [4 3 3 3]
}
