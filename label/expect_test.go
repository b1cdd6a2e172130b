package label

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

// The share to expect is the mean of the probabilities; the interval knows how few the
// photos are, of the folder and of what was held out, and that folders differ.
func TestExpectation(t *testing.T) {
	row := func(p float64, rejected bool) Scored {
		return Scored{Prediction: classifier.Prediction{Probability: p}, Rejected: rejected}
	}
	held := calibration.Calibration{Source: calibration.LeftOut, Samples: 400, Accuracy: 0.9, Elsewhere: 0.5}
	h := hopes{held: held}
	for range 50 {
		h.add(row(0.9, false))
		h.add(row(0.5, false))
		h.add(row(0.1, true))
	}
	got := h.expectation()
	spread := 1.96 * math.Sqrt((0.09+0.25)/2/100+0.25/400+0.05*0.05)
	if got == nil || got.Labels != 100 || math.Abs(float64(got.Accuracy)-0.7) > 1e-12 ||
		math.Abs(float64(got.Low)-(0.7-spread)) > 1e-12 || math.Abs(float64(got.High)-(0.7+spread)) > 1e-12 {
		t.Errorf("%+v", got)
	}
	for _, held := range []calibration.Calibration{{}, {Source: calibration.Simulated, Samples: 9}} {
		h := hopes{held: held}
		h.add(row(0.9, false))
		if got := h.expectation(); got != nil {
			t.Errorf("%+v of %+v", got, held)
		}
	}
	h = hopes{held: held}
	if got := h.expectation(); got != nil {
		t.Errorf("%+v of nothing", got)
	}
}
