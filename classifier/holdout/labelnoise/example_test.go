package labelnoise_test

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
)

// Each photo is scored by models that were trained without it. Every tenth has a wrong label.
func Example() {
	cat, dog := []float64{math.Log(0.9), math.Log(0.1)}, []float64{math.Log(0.1), math.Log(0.9)}
	var labels labelnoise.Labels
	for i := range 100 {
		looks := [][]float64{cat, dog}[i%2]
		given := i % 2
		if i%10 == 0 {
			given = 1 - given
		}
		labels.Add(looks, given)
	}
	noise := labels.Fit()
	fmt.Printf("%.0f %% are wrong\n", 100*noise.Share)
	fmt.Printf("the first with probability %.2f,", labels.Wrong(noise, 0))
	fmt.Printf(" the second with %.2f\n", labels.Wrong(noise, 1))
	// Output:
	// 9 % are wrong
	// the first with probability 0.84, the second with 0.00
}
