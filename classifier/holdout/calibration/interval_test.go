package calibration_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

// TestInterval: at either end of the interval what was drawn, or what is further away, has
// a probability of 1 in 40, by the binomial distribution itself.
func TestInterval(t *testing.T) {
	for _, n := range []int{1, 2, 20, 333} {
		for _, k := range []int{0, n / 3, n} {
			low, high := calibration.Interval(k, n)
			below := distuv.Binomial{N: float64(n), P: high}.CDF(float64(k))
			above := 1 - distuv.Binomial{N: float64(n), P: low}.CDF(float64(k-1))
			if k == n && high != 1 || k < n && math.Abs(below-0.025) > 1e-9 {
				t.Errorf("%d of %d: high = %g, of which as few have probability %g", k, n, high, below)
			}
			if k == 0 && low != 0 || k > 0 && math.Abs(above-0.025) > 1e-9 {
				t.Errorf("%d of %d: low = %g, of which as many have probability %g", k, n, low, above)
			}
		}
	}
}

// TestAtLeast: the fewer examples were all named correctly, the less is promised.
func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		samples  int
		accuracy float64
		want     float64
		instead  bool
	}{
		{20, 1, math.Pow(0.025, 1.0/20), true},
		{1000, 1, math.Pow(0.025, 1.0/1000), true},
		{20, 5, math.Pow(0.025, 1.0/20), true},
		{1 << 50, 1, 1, true},
		{20, 0.95, 0, false},
		{20, math.NaN(), 0, false},
		{-1, 1, 0, false},
		{0, 0, 0, false},
	} {
		got, instead := calibration.Calibration{Samples: c.samples, Accuracy: c.accuracy}.AtLeast()
		if math.Abs(got-c.want) > 1e-9 || instead != c.instead {
			t.Errorf("%g of %d: %g, %t, want %g, %t", c.accuracy, c.samples, got, instead, c.want, c.instead)
		}
	}
}
