package plda_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
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

// withPrior returns a default head that has learned from a prior.
func withPrior(t *testing.T, p *gauss.Prior, x blas32.General, y []string) *plda.PLDA {
	t.Helper()
	h := must.Get(plda.New(plda.DefaultConfig()))(t)
	must.Do(t, h.UsePrior(p))
	learn(t, h, x, y)
	return h
}

// Two classes with one example each: the prior says that a difference in the first
// direction is that of images of one class.
func TestPriorDecidesWithOneExampleOfEachClass(t *testing.T) {
	const d = 12
	x, y, query := dense.New32(2, d), []string{"a", "b"}, dense.New32(1, d)
	copy(x.Data, []float32{1, 1, 0})
	copy(x.Data[d:], []float32{-1, 0, 1})
	copy(query.Data, []float32{-1, 1, 0}) // nearer to b in all but the first direction
	best := func(p *gauss.Prior) string {
		h := withPrior(t, p, x, y)
		dst, novelty := dense.New(1, 2), make([]float64, 1)
		must.Do(t, h.Score(dst, novelty, query))
		if dst.Data[0] > dst.Data[1] {
			return h.Classes()[0]
		}
		return h.Classes()[1]
	}
	if with, without := best(narrow(d)), best(nil); with != "a" || without != "b" {
		t.Errorf("with the prior %s, without %s", with, without)
	}
}

// The weight is chosen where examples can be left out, is saved, and stays in heads
// for the calibration.
func TestWeightOfThePrior(t *testing.T) {
	for _, c := range []struct {
		n      int
		chosen bool
	}{{1, false}, {4, true}, {25, false}} {
		x, y := data(6, c.n, 8, 3)
		h := withPrior(t, narrow(8), x, y)
		const byDefault = 300
		if w := h.PriorWeight(); w <= 0 || !c.chosen && w != byDefault {
			t.Errorf("%d examples: weight %g", c.n, w)
		}
		if c.chosen && h.PriorWeight() == byDefault {
			t.Errorf("a prior that is wrong keeps its weight %g", h.PriorWeight())
		}
		s := must.Get(h.Save())(t)
		loaded := must.Get(plda.Load(s))(t)
		must.Do(t, loaded.UsePrior(narrow(8)))
		next := must.Get(loaded.Unfitted())(t)
		must.Do(t, next.Learn(t.Context(), x, y))
		if got := next.(*plda.PLDA).PriorWeight(); got != h.PriorWeight() {
			t.Errorf("%d examples: weight %g after loading, %g before", c.n, got, h.PriorWeight())
		}
		if a, b := h.Space().Whiten.Dense(), next.(*plda.PLDA).Space().Whiten.Dense(); !same(a, b) {
			t.Errorf("%d examples: another W", c.n)
		}
	}
}

// With one example of each class, ε is the one of the prior.
func TestEpsilonOfThePrior(t *testing.T) {
	x, y := data(6, 1, 8, 3)
	p := narrow(8)
	p.Epsilon = 0.9
	if c := withPrior(t, p, x, y).Choice(); c.Value != 0.9 || c.Fallback == "" {
		t.Errorf("%+v", c)
	}
	if c := withPrior(t, narrow(8), x, y).Choice(); c.Value != 0.7 {
		t.Errorf("of a prior that has none: %+v", c)
	}
}

// A prior that says the opposite of what the examples say is not used.
func TestPriorThatIsWrongIsLeftOut(t *testing.T) {
	const d = 8
	x, y := data(12, 8, d, 3) // spread in the directions 0 and 5
	P := dense.Identity(d)
	for _, j := range []int{0, 5} {
		P.Data[j*d+j] = 0.001
	}
	h := withPrior(t, &gauss.Prior{Within: P}, x, y)
	if h.PriorWeight() != 0 {
		t.Errorf("it counts as %g images", h.PriorWeight())
	}
	if without := withPrior(t, nil, x, y); !same(h.Space().Whiten.Dense(), without.Space().Whiten.Dense()) {
		t.Error("W is not that without it")
	}
	next := must.Get(h.Unfitted())(t)
	learn(t, next.(*plda.PLDA), x, y)
	if !same(h.Space().Whiten.Dense(), next.(*plda.PLDA).Space().Whiten.Dense()) {
		t.Error("learned again, it uses the prior")
	}
}

func same(a, b blas64.General) bool {
	for i, v := range a.Data {
		if b.Data[i] != v {
			return false
		}
	}
	return len(a.Data) == len(b.Data)
}

func TestPriorThatCannotBeUsed(t *testing.T) {
	lda := must.Get(plda.New(plda.LDA()))(t)
	if err := lda.UsePrior(narrow(4)); !errors.Is(err, gauss.ErrPrior) {
		t.Errorf("lda: %v", err)
	}
	h := must.Get(plda.New(plda.DefaultConfig()))(t)
	must.Do(t, h.UsePrior(narrow(5)))
	x, y := data(3, 2, 4, 1)
	if err := h.Learn(t.Context(), x, y); !errors.Is(err, gauss.ErrPrior) {
		t.Errorf("a prior of other dimensions: %v", err)
	}
}
