package classifiertest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// checkLinear checks that the scores from features and weights give what Score
// gives, and that a later session changes no features.
func checkLinear(t *testing.T, f Factory) {
	h, ok := f.learned(t).(classifier.Linear)
	if !ok {
		t.Skip("not linear in features")
	}
	if _, err := h.Features(queries()); !errors.Is(err, classifier.ErrNotFitted) {
		t.Errorf("features of an unfitted head: %v", err)
	}
	if _, _, err := h.Weights(nil); !errors.Is(err, classifier.ErrNotFitted) {
		t.Errorf("weights of an unfitted head: %v", err)
	}
	if _, _, err := h.Unseen(); !errors.Is(err, classifier.ErrNotFitted) {
		t.Errorf("the unseen class of an unfitted head: %v", err)
	}
	head := f.learned(t, base(), f.novel())
	phi, err := f.learned(t, base()).(classifier.Linear).Features(queries())
	if err != nil {
		t.Fatal(err)
	}
	w, b, err := head.(classifier.Linear).Weights(dense.Range(0, len(head.Classes())))
	if err != nil {
		t.Fatal(err)
	}
	unseen, c, err := head.(classifier.Linear).Unseen()
	if err != nil {
		t.Fatal(err)
	}
	want, novelty := LogProb(t, head, queries()), novelty(t, head, queries())
	for i := range phi.Rows {
		scores := slices.Clone(b)
		for c := range scores {
			scores[c] += dense.Dot(dense.Row(w, c), dense.Row(phi, i))
		}
		if v := c +
			dense.Dot(unseen, dense.Row(phi, i)) - slices.Max(scores); math.Abs(v-novelty[i]) > 1e-6*(1+math.Abs(v)) {
			t.Errorf("row %d: novelty %v by features, %v by Score", i, v, novelty[i])
		}
		classifier.LogSoftmax(scores)
		for c, v := range scores {
			if have := dense.Row(want, i)[c]; math.Abs(v-have) > 1e-6*(1+math.Abs(have)) {
				t.Errorf("row %d, class %d: %v by features, %v by Score", i, c, v, have)
			}
		}
	}
}
