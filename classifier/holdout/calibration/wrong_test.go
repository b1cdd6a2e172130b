package calibration

import (
	"context"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
)

// A wrong label among classes that are never confused is in some folds and not in others, or
// in the held-out part alone. The probabilities stay near 1 all the same.
func TestOneWrongLabel(t *testing.T) {
	for _, n := range []int{12, 24} {
		for seed := range uint64(8) {
			w := newWorld(seed, 24, 0.1)
			s, queries := w.session(0, 6, n), w.session(0, 6, 20)
			s.Y[int(seed)%n] = s.Y[len(s.Y)-1]
			head, err := ncm.New(ncm.DefaultConfig())
			if err != nil {
				t.Fatal(err)
			}
			if err := head.Learn(context.Background(), s.X, s.Y); err != nil {
				t.Fatal(err)
			}
			v, _, err := Fit(context.Background(), Task{Sessions: []episodes.Episode{s}, Fresh: head.Unfitted})
			if err != nil {
				t.Fatal(err)
			}
			if _, nll, _ := test(t, head, queries, v.T, 0); nll > 0.1 {
				t.Errorf("%d images of a class, seed %d: negative log-likelihood %.3f at T = %.3g", n, seed, nll, v.T)
			}
		}
	}
}
