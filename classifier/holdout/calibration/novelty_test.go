package calibration

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestQuantileIsNumpys(t *testing.T) {
	// numpy.quantile([1, 2, 4, 8], q)
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		if got := quantile([]float64{1, 2, 4, 8}, q); math.Abs(got-want) > 1e-14 {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	if got := quantile([]float64{5}, 0.3); got != 5 {
		t.Errorf("of one number: %v", got)
	}
}

// With weights every class counts the same; with equal ones the quantiles are the same.
func TestWeightedQuantiles(t *testing.T) {
	held, equal := []float64{4, 1, 8, 2}, []float64{3, 3, 3, 3}
	want, got := quantiles(held, nil), make([]float64, Quantiles)
	weighted(got, held, equal)
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-12 {
			t.Fatalf("quantile %d is %v, want %v", i, got[i], w)
		}
	}
	var values, weights []float64
	for i := range 1000 { // of a class at 0 to 1, and ten of one at 2 to 3
		values, weights = append(values, float64(i)/1000), append(weights, 1.0/1000)
		if i%100 == 0 {
			values, weights = append(values, 2+float64(i)/1000), append(weights, 1.0/10)
		}
	}
	q := quantiles(values, weights)
	if q[250] < 0.4 || q[250] > 0.6 || q[750] < 2.35 || q[750] > 2.6 || q[0] != 0 || q[1000] != 2.9 {
		t.Errorf("quartiles %v and %v, from %v to %v", q[250], q[750], q[0], q[1000])
	}
}

// In a mixture the threshold leaves the requested share above it.
func TestMixedThreshold(t *testing.T) {
	c := Novelty{Quantiles: ramp(0, 1), Few: ramp(2, 6), Shots: 5}
	for _, few := range []float64{0.01, 0.25, 0.5, 1} {
		last := math.Inf(1)
		for _, p := range []float64{0.001, 0.01, 0.05, 0.3, 0.7} {
			v := must.Get(c.Threshold(p, few))(t)
			share := (1-few)*above(c.Quantiles, v) + few*above(c.Few, v)
			if math.Abs(share-p) > 1e-9 && !(few == p) || v > last {
				t.Errorf("few %v, p %v: threshold %v leaves %v above", few, p, v, share)
			}
			last = v
		}
	}
}

// ramp is uniform between two values.
func ramp(from, to float64) []float64 {
	q := make([]float64, Quantiles)
	for i := range q {
		q[i] = from + (to-from)*float64(i)/float64(len(q)-1)
	}
	return q
}

func TestAboveIsQuantileBackwards(t *testing.T) {
	q := ramp(-3, 5)
	for _, p := range []float64{0.1234, 0.5, 0.999} {
		if got := above(q, quantile(q, 1-p)); math.Abs(got-p) > 1e-12 {
			t.Errorf("%v: %v", p, got)
		}
	}
	if above(q, -4) != 1 || above(q, 6) != 0 {
		t.Error("outside the range")
	}
	same := ramp(2, 2)
	if above(same, 2) != 1 || above(same, 2.5) != 0 {
		t.Error("of equal values")
	}
	if v, err := (Novelty{Quantiles: same, Few: same, Shots: 5}).Threshold(0.3, 0.5); v < 2 ||
		v > math.Nextafter(2, 3) || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}
