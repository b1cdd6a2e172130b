package calibration

import (
	"context"
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A wrong label among classes that are never confused is in some folds and not in others, or
// in the held-out part alone. The probabilities stay near 1 all the same.
func TestOneWrongLabel(t *testing.T) {
	for _, n := range []int{12, 24} {
		for seed := range uint64(8) {
			w := newWorld(seed, 24, 0.1)
			s, queries := w.session(0, 6, n), w.session(0, 6, 20)
			s.Y[int(seed)%n] = s.Y[len(s.Y)-1]
			for name, head := range heads(t) {
				must.Do(t, head.Learn(context.Background(), s.X, s.Y))
				v, _, err := Fit(context.Background(), Task{Sessions: []episodes.Episode{s}, Fresh: head.Unfitted})
				if err != nil {
					t.Fatal(err)
				}
				if _, nll, _ := test(t, head, queries, v.T, 0); nll > 0.1 {
					t.Errorf("%s, %d images of a class, seed %d: negative log-likelihood %.3f at T = %.3g", name, n,
						seed, nll, v.T)
				}
			}
		}
	}
}

// learner is a head that can be fitted again with its own settings.
type learner interface {
	classifier.Learner
	classifier.Unfitter
}

// heads returns unfitted heads that fit a temperature of their own.
func heads(t *testing.T) map[string]learner {
	t.Helper()
	n := must.Get(ncm.New(ncm.DefaultConfig()))(t)
	g := must.Get(gpr.New(gpr.DefaultConfig()))(t)
	return map[string]learner{"ncm": n, "gpr": g}
}

// The temperature suits true labels where a tenth of those that were learned are wrong.
func TestTemperatureOfTrueLabels(t *testing.T) {
	for _, n := range []int{12, 24} {
		w := newWorld(uint64(n), 24, 1)
		s, queries := w.session(0, 30, n), w.session(0, 30, 20)
		for i := 0; i < len(s.Y); i += 10 {
			s.Y[i] = s.Y[(i+7*n)%len(s.Y)]
		}
		head := taught(t, s)
		v, _ := must.Get2(Fit(context.Background(), Task{Sessions: []episodes.Episode{s},
			Fresh: head.(classifier.Unfitter).Unfitted}))(t)
		_, nll, _ := test(t, head, queries, v.T, 0)
		best := math.Inf(1)
		for logT := -3.0; logT < 4; logT += 0.1 {
			_, other, _ := test(t, head, queries, math.Exp(logT), 0)
			best = min(best, other)
		}
		if nll > best+0.05 || v.Wrong < 0.07 {
			t.Errorf("%d images of a class: negative log-likelihood %.3f, %.3f at the best T; %+v", n, nll, best, v)
		}
	}
}

// Later classes that a head hardly recognises, learned from few images, have no wrong labels: its
// shared covariance in many dimensions sets their means apart from their images.
func TestLaterClassesAreNotWrong(t *testing.T) {
	for seed := range uint64(4) {
		s := newWorld(seed, 128, 12).session(0, 30, 40)
		v, _ := must.Get2(Fit(context.Background(), Task{Sessions: []episodes.Episode{s},
			Fresh: func() (classifier.Learner, error) { return plda.New(plda.LDA()) }}))(t)
		if v.Wrong > 0 {
			t.Errorf("seed %d: %g of the labels look wrong: %+v", seed, v.Wrong, v)
		}
	}
}
