package classifiertest

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// moved returns a copy of the session in which every value x is (x + offset)·scale.
func (s session) moved(offset, scale float64) session {
	out := join(s)
	for i, v := range out.x.Data {
		out.x.Data[i] = float32((float64(v) + offset) * scale)
	}
	return out
}

// checkFrame checks that a head knows unseen examples wherever the embeddings lie
// and whatever their unit is.
func checkFrame(t *testing.T, f Factory) {
	if f.Absolute {
		t.Skip("a setting has the unit of the embeddings")
	}
	test := draw(5, 20, "cat", "ant", "bee", "dog")
	var unmoved int
	for _, by := range []struct{ offset, scale float64 }{
		{0, 1}, {0, 1e-4}, {0, 1e4}, {1e4, 1}, {-1e4, 1e-4}, {100, 1e4},
	} {
		asked := test.moved(by.offset, by.scale)
		h := f.learned(t, base().moved(by.offset, by.scale), f.novel().moved(by.offset, by.scale))
		right := 0
		for i, p := range must(classifier.Predict(h, asked.x, 1))(t) {
			if p.Label == test.y[i] {
				right++
			}
		}
		if by.offset == 0 && by.scale == 1 {
			unmoved = right
		}
		if right < unmoved-len(test.y)/10 {
			t.Errorf("(x%+g)·%g: %d of %d examples are recognised, %d of x", by.offset, by.scale, right, len(test.y),
				unmoved)
		}
		if _, ok := h.(classifier.Saver); !ok {
			continue
		}
		back := f.reloaded(t, h)
		unchanged(t, "saving and loading", back, everything(t, h))
		if !slices.Equal(LogProb(t, back, asked.x).Data, LogProb(t, h, asked.x).Data) {
			t.Errorf("(x%+g)·%g: log-probabilities changed in the last bits", by.offset, by.scale)
		}
	}
}
