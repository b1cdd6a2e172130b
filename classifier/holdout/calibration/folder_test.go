package calibration

import (
	"math"
	"testing"
)

// The share to expect is the mean of the probabilities; the interval knows how few the
// photos are, of the folder and of what was held out, and that folders differ.
func TestFolder(t *testing.T) {
	held := Calibration{Source: LeftOut, Samples: 400, Accuracy: 0.9, Elsewhere: 0.5}
	f := NewFolder(held)
	if _, _, _, ok := f.Expect(); ok {
		t.Error("something is expected of no photos")
	}
	for range 50 {
		f.Add(0.9, 1)
		f.Add(0.5, 1)
	}
	share, low, high, ok := f.Expect()
	spread := 1.96 * math.Sqrt((0.09+0.25)/2/100+0.25/400+0.05*0.05)
	if !ok || f.N != 100 || math.Abs(share-0.7) > 1e-12 || math.Abs(low-(0.7-spread)) > 1e-12 ||
		math.Abs(high-(0.7+spread)) > 1e-12 {
		t.Errorf("%v, %v to %v, %v", share, low, high, ok)
	}
	for _, held := range []Calibration{{}, {Source: Simulated, Samples: 9}} {
		f.held = held
		if _, _, _, ok := f.Expect(); ok {
			t.Errorf("something is expected after %+v", held)
		}
	}
}

// Probabilities that are those of another occasion say too little of photos like those
// learned. How many of a folder are such is told by their novelty, of which a photo of
// something else counts no more than the strangest that was held out.
func TestFolderOfPhotosLikeThoseLearned(t *testing.T) {
	held := Calibration{Source: LeftOut, Samples: 400, Accuracy: 0.9, Elsewhere: 0.5, Understated: 0.2}
	held.Quantiles, held.Other = make([]float64, Quantiles), make([]float64, Quantiles)
	for i := range Quantiles {
		at := float64(i) / (Quantiles - 1)
		held.Quantiles[i], held.Other[i] = 2*at-6, 8*at-2 // means −5 and 2, from −6 to 6
	}
	for _, c := range []struct {
		novelty []float64
		want    float64
	}{
		{[]float64{-5}, 0.8}, {[]float64{-100}, 0.8}, {[]float64{2}, 0.6}, {[]float64{5}, 0.6}, {[]float64{-5, 2}, 0.7},
		{[]float64{-5, -5, -5, 1e9}, 0.6 + 0.2*(2+9.0/4)/7},
	} {
		f := NewFolder(held)
		for range 10 {
			for _, v := range c.novelty {
				f.Add(0.6, v)
			}
		}
		if share, _, _, ok := f.Expect(); !ok || math.Abs(share-c.want) > 1e-9 {
			t.Errorf("novelty %v: %v, want %v", c.novelty, share, c.want)
		}
	}
	held.Other = nil
	f := NewFolder(held)
	f.Add(0.6, -5)
	if share, _, _, _ := f.Expect(); share != 0.6 {
		t.Errorf("without photos of another occasion: %v", share)
	}
}
