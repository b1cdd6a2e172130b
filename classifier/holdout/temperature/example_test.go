package temperature_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
)

// A head that is right in three cases of four, and always says 99 %.
func Example() {
	sure := []float64{math.Log(0.99), math.Log(0.01)}
	var held temperature.Likelihood
	for i := range 40 {
		own := 0
		if i%4 == 0 {
			own = 1
		}
		held.Add(sure, own)
	}
	t := held.Minimum()
	row := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: sure}
	t.Apply(row)
	fmt.Printf("T = %.1f makes that %.2f\n", t.T, math.Exp(row.Data[0]))
	// Output: T = 4.5 makes that 0.74
}
