package calibration

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval returns where a share lies if k of n drawn ones count, in 19 of 20 cases or more
// (Clopper and Pearson 1934).
func Interval(k, n int) (low, high float64) {
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.Quantile(0.025)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k) + 1, Beta: float64(n - k)}.Quantile(0.975)
	}
	return low, high
}

// AtLeast returns the lower end of Accuracy's interval, and whether to state that instead:
// twenty examples that were all named correctly do not make a head that is never wrong.
func (c Calibration) AtLeast() (share float64, instead bool) {
	if c.Samples <= 0 || !(c.Accuracy >= 0.995) {
		return 0, false
	}
	low, _ := Interval(int(math.Round(min(c.Accuracy, 1)*float64(c.Samples))), c.Samples) // a MODEL may say anything
	return low, true
}
