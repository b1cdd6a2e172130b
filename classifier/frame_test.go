package classifier_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// TestFrameOf lists base sessions of two-dimensional embeddings with the frames
// that they set.
func TestFrameOf(t *testing.T) {
	ab := []string{"a", "b", "a", "b"}
	for name, c := range map[string]struct {
		x           []float32
		y           []string
		lengthscale float64
		want        classifier.Frame
	}{
		"ordinary":     {[]float32{1, 2, 3, 2, 1, 4, 3, 4}, ab, 0, classifier.Frame{}},
		"a large unit": {[]float32{1e4, 2e4, 3e4, 2e4, 1e4, 4e4, 3e4, 4e4}, ab, 0, classifier.Frame{}},
		"a common offset": {[]float32{101, 202, 103, 202, 101, 204, 103, 204}, ab, 0,
			classifier.Frame{Origin: []float32{102, 203}}},
		"one class": {[]float32{101, 202, 103, 202, 101, 204, 103, 204}, []string{"a", "a", "a", "a"}, 0,
			classifier.Frame{}},
		"equal rows": {[]float32{.1, .7, .1, .7, .1, .7, .1, .7}, ab, 0, classifier.Frame{}},
		"raw":        {[]float32{1, 2, 3, 2, 1, 4, 3, 4}, ab, 1, classifier.Frame{}},
		"raw, a large unit": {[]float32{1e4, 2e4, 3e4, 2e4, 1e4, 4e4, 3e4, 4e4}, ab, 2,
			classifier.Frame{Scale: 2 / 14142.1356}},
		"raw, offset and large": {[]float32{1.01e6, 2.02e6, 1.03e6, 2.02e6, 1.01e6, 2.04e6, 1.03e6, 2.04e6}, ab, 1,
			classifier.Frame{Origin: []float32{1.02e6, 2.03e6}, Scale: 1 / 14142.1356}},
	} {
		x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: c.x}
		got := classifier.FrameOf(x, c.y, c.lengthscale)
		if !slices.Equal(got.Origin, c.want.Origin) || got.Scale != c.want.Scale {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got.Origin == nil && got.Scale == 0 && &got.Of(x).Data[0] != &x.Data[0] {
			t.Errorf("%s: the zero frame copies", name)
		}
		if err := got.Check(2); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range []classifier.Frame{{Origin: []float32{1}}, {Scale: -1}} {
		if f.Check(2) == nil {
			t.Errorf("%v was accepted for two values", f)
		}
	}
}
