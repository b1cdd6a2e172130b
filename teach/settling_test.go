package teach

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestQuestionsSettleMost: once as many photos have an answer as there are classes, what to check is in the order of
// what an answer settles, with regard to those asked before; an answer takes the doubt of its neighbours, too.
func TestQuestionsSettleMost(t *testing.T) {
	w := newWorldOf(3, 60, 16)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, 0, 1)
	s.Wait()
	if page := must.Get(s.List(Query{View: Check, Limit: 5}))(t); page.Items[0].Settles != 0 {
		t.Error("it is said what answers settle before anybody can know which photos are alike")
	}
	s.Wait()
	w.name(t, s, 2)
	s.Wait()
	ask := func() []Item {
		must.Get(s.List(Query{View: Check, Limit: 1}))(t)
		s.Wait()
		return must.Get(s.List(Query{View: Check, Limit: 200}))(t).Items
	}
	items := ask()
	if len(items) < 20 || items[0].Settles <= 0 {
		t.Fatalf("%d questions, the first of which settles %v", len(items), items[0].Settles)
	}
	if !slices.IsSortedFunc(items, func(a, b Item) int {
		if a.Settles >= b.Settles {
			return 0
		}
		return 1
	}) {
		t.Error("they are in another order than that of what they settle")
	}
	do(t, s, Decision{Do: Skip, Images: []ID{items[0].ID}})
	later := ask()
	if later[len(later)-1].ID != items[0].ID {
		t.Error("a photo for later is not the last one")
	}
	must.Get(s.Undo())(t)
	do(t, s, Decision{Do: Label, Images: []ID{items[0].ID}, Class: w.truth[items[0].ID]})
	if slices.ContainsFunc(ask(), func(it Item) bool { return it.ID == items[0].ID }) {
		t.Error("what was answered is asked again")
	}
}

// TestSettling: three photos of which two lean on the first, and two alone, one of them newer than the graph. The first
// settles its own doubt and twice that of the others, which is halved then, so that the fourth is asked before them.
func TestSettling(t *testing.T) {
	l := likeness{n: 4, start: []int32{0, 2, 3, 4, 4}, to: []int32{1, 2, 0, 0}, weight: []float32{1, 1, 0.5, 0.5}}
	got := l.settling([]float32{0.5, 0.4, 0.4, 0.6, 0.1}, 2)
	for i, want := range []float64{0.5 + 2*(0.4+0.4), 0.2 + 2*0.5*0.25, 0.2 + 2*0.5*0.25, 0.6, 0.1} {
		if math.Abs(float64(got[i])-want) > 1e-6 {
			t.Errorf("photo %d settles %.3f, want %.3f", i, got[i], want)
		}
	}
}
