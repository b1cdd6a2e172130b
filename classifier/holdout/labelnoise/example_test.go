package labelnoise_test

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/labelnoise"
)

// Each photo is scored by models that were trained without it. They recognise every second one,
// and of those every tenth has a wrong label. Of the others they are 70 % sure, and right as often:
// a wrong label does not show there, but is as likely.
func Example() {
	sure, hard := []float64{math.Log1p(-1e-6), math.Log(1e-6)}, []float64{math.Log(0.7), math.Log(0.3)}
	var labels labelnoise.Labels
	for i := range 400 {
		looks, given := sure, 0
		if i%2 == 1 {
			looks = hard
		}
		if i%20 == 0 || i%20 > 14 && i%2 == 1 {
			given = 1
		}
		labels.Add(looks, given)
	}
	noise := labels.Fit()
	fmt.Printf("%.0f %% are wrong, %.0f to %.0f\n", 100*noise.Share, 100*noise.Low, 100*noise.High)
	fmt.Printf("the first with probability %.2f,", labels.Wrong(noise, 0))
	fmt.Printf(" the second with %.2f\n", labels.Wrong(noise, 1))
	// Output:
	// 9 % are wrong, 6 to 13
	// the first with probability 1.00, the second with 0.03
}
