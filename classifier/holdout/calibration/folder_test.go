package calibration

import (
	"math"
	"testing"
)

// The share to expect is the mean of the probabilities; the interval knows how few the
// photos are, of the folder and of what was held out, and that folders differ.
func TestFolder(t *testing.T) {
	held := Calibration{Source: LeftOut, Samples: 400, Accuracy: 0.9, Elsewhere: 0.5}
	var f Folder
	if _, _, _, ok := f.Expect(held); ok {
		t.Error("something is expected of no photos")
	}
	for range 50 {
		f.Add(0.9)
		f.Add(0.5)
	}
	share, low, high, ok := f.Expect(held)
	spread := 1.96 * math.Sqrt((0.09+0.25)/2/100+0.25/400+0.05*0.05)
	if !ok || f.N != 100 || math.Abs(share-0.7) > 1e-12 || math.Abs(low-(0.7-spread)) > 1e-12 ||
		math.Abs(high-(0.7+spread)) > 1e-12 {
		t.Errorf("%v, %v to %v, %v", share, low, high, ok)
	}
	for _, held := range []Calibration{{}, {Source: Simulated, Samples: 9}} {
		if _, _, _, ok := f.Expect(held); ok {
			t.Errorf("something is expected after %+v", held)
		}
	}
}
