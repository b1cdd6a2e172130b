package pldaplus_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// narrow returns a prior of classes that spread along the first direction only.
func narrow(d int) *gauss.Prior {
	P := dense.Identity(d)
	for i := 1; i < d; i++ {
		P.Data[i*d+i] = 0.01
	}
	return &gauss.Prior{Within: P}
}

// fitting returns a prior that spreads as the classes of data do, scaled to length 1.
func fitting(d int) *gauss.Prior {
	P := dense.Identity(d)
	for j := range d {
		P.Data[j*d+j] = 0.02 / float64((1+j%3)*(1+j%3))
	}
	return &gauss.Prior{Within: P, Epsilon: 0.6}
}

func usePrior(t *testing.T, h classifier.Learner, p *gauss.Prior) {
	t.Helper()
	must.Do(t, h.(gauss.PriorUser).UsePrior(p))
}

// TestPriorIsThatOfPLDA: where nothing is chosen by pseudo-sessions, plda+ with a prior
// is plda with it.
func TestPriorIsThatOfPLDA(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		x, y := data(0, 12, n, 24, 1)
		queries, _ := data(0, 12, 3, 24, 3)
		want := must.Get(plda.New(plda.DefaultConfig()))(t)
		got := must.Get(pldaplus.New(pldaplus.PLDAPlus, pldaplus.DefaultPLDAPlus()))(t)
		usePrior(t, want, fitting(24))
		usePrior(t, got, fitting(24))
		learn(t, want, x, y)
		learn(t, got, x, y)
		near(t, fmt.Sprintf("%d examples with a prior", n), got, want, queries, 1e-8)
		if got.PriorWeight() != want.PriorWeight() || got.PriorWeight() == 0 {
			t.Errorf("%d examples: weight %g, of plda %g", n, got.PriorWeight(), want.PriorWeight())
		}
	}
}

// TestPriorInPseudoSessions: they start from the prior too, and a loaded head learns the
// base session again with the weight that was chosen.
func TestPriorInPseudoSessions(t *testing.T) {
	without, x, y := auto(t)
	h := must.Get(pldaplus.New(pldaplus.PLDAPlus, fewSplits()))(t)
	usePrior(t, h, narrow(6))
	learn(t, h, x, y)
	if reflect.DeepEqual(h.Choice().Scores, without.Choice().Scores) {
		t.Error("pseudo-sessions do not use the prior")
	}
	loaded := must.Get(pldaplus.Load(pldaplus.PLDAPlus, saved(t, h)))(t)
	usePrior(t, loaded, narrow(6))
	again := must.Get(loaded.Unfitted())(t)
	learn(t, again, x, y)
	near(t, "learned again", again, h, x, 0)
}
