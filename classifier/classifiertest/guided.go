package classifiertest

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
)

// checkGuided checks that a head and the one that its novelty comes from agree on it after each
// session, wherever the embeddings lie, and that the settings of an unfitted head are kept.
func checkGuided(t *testing.T, f Factory) {
	fresh := map[string]func() classifier.Learner{
		"new":      func() classifier.Learner { return must(f.New())(t) },
		"unfitted": func() classifier.Learner { return f.unfitted(t, f.learned(t, base(), f.novel())) },
	}
	for name, fresh := range fresh {
		guided, ok := fresh().(classifier.Guided)
		if !ok || guided.NoveltyHead() == nil {
			t.Skip("novelty of its own")
		}
		for _, offset := range []float64{0, 1000} {
			h, other := fresh(), guided.NoveltyHead()
			for _, s := range []session{base(), f.novel()} {
				learn(t, h, s.moved(offset, 1))
				learn(t, other, s.moved(offset, 1))
				x := draw(5, 6, "cat", "ant", "bee", "dog", "eel").moved(offset, 1).x
				got, want := must(episodes.Novelties(other, x))(t), must(episodes.Novelties(h, x))(t)
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= f.Tolerance*max(1, math.Abs(want[i]))) {
						t.Fatalf("%s, x%+g: novelty %g, want %g", name, offset, got[i], want[i])
					}
				}
				if slices.Min(want) == slices.Max(want) {
					t.Errorf("%s, x%+g: all are as novel", name, offset)
				}
			}
		}
	}
}

// unfitted returns an unfitted head with the settings that a head has chosen.
func (f Factory) unfitted(t *testing.T, h classifier.Learner) classifier.Learner {
	t.Helper()
	if u, ok := h.(classifier.Unfitter); ok {
		return must(u.Unfitted())(t)
	}
	return must(f.New())(t)
}
