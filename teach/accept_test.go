package teach

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// strangers returns a session of many photos of three classes, of which some are
// named, and a few of two others, which nobody has named.
func strangers(t *testing.T, method string) *Session {
	t.Helper()
	all := newWorld(5, 200)
	w := world{truth: all.truth}
	for i, p := range all.photos {
		if i%5 < 3 || i%250 < 5 {
			w.photos, w.vectors = append(w.photos, p), append(w.vectors, all.vectors[i])
		}
	}
	s := w.openAt(t, t.TempDir(), method)
	for i, p := range w.photos[:110] {
		if class := w.truth[p.ID]; class != "class 3" && class != "class 4" {
			w.name(t, s, i)
			s.Wait() // whether a prediction was right depends on the fits before it
		}
	}
	return s
}

// open returns the photos without a label that are predicted with at least a probability,
// those that the model calls unknown apart.
func open(t *testing.T, s *Session, above float64) (known, unknown []Item) {
	t.Helper()
	page := must.Get(s.List(Query{View: All, Limit: 1000}))(t)
	for _, it := range page.Items {
		switch {
		case it.Label != "" || it.Top[0].Probability < above:
		case it.Unknown:
			unknown = append(unknown, it)
		default:
			known = append(known, it)
		}
	}
	return known, unknown
}

// The count, the promise, the advice and the labels of accepting many are those of photos
// that the model takes for a known class, however sure it is of the others.
func TestUnknownPhotosAreNotAccepted(t *testing.T) {
	for _, method := range []string{"plda", "ncm"} {
		t.Run(method, func(t *testing.T) {
			s := strangers(t, method)
			known, unknown := open(t, s, account.SureEnough)
			if len(known) == 0 || len(unknown) == 0 {
				t.Fatalf("%d known and %d unknown photos are surer than %v: nothing to tell apart", len(known),
					len(unknown), account.SureEnough)
			}
			wrong, ofFirst := 0.0, 0
			for _, it := range known {
				wrong += 1 - it.Top[0].Probability
				if it.Top[0].Label == known[0].Top[0].Label {
					ofFirst++
				}
			}
			// That photos may show what nobody has named comes on top.
			if a := s.Acceptable(account.SureEnough, Query{}); a.Images != len(known) || a.Wrong < wrong-1e-4 ||
				!(a.Low <= a.Wrong && a.Wrong <= a.High && a.High <= float64(len(known))) {
				t.Errorf("%d photos are to be accepted, %.4f of them wrong, %v to %v; want %d and %.4f",
					a.Images, a.Wrong, a.Low, a.High, len(known), wrong)
			}
			if a := s.Acceptable(account.SureEnough, Query{Class: known[0].Top[0].Label}); a.Images != ofFirst {
				t.Errorf("%d photos of %s are to be accepted, want %d", a.Images, known[0].Top[0].Label, ofFirst)
			}
			want := fmt.Sprintf("Most labels are right: accept the %d photos above 95 %%, after a look at twenty "+
				"drawn at random.", len(known))
			if got := s.Status().Account.Next; got.Text != want {
				t.Errorf("the advice is %+v, want %q", got, want)
			}
			line := must.Get(s.Accept(account.SureEnough, Query{}))(t)
			if len(line.Images) != len(known) {
				t.Errorf("%d photos were accepted, want %d", len(line.Images), len(known))
			}
			for _, it := range unknown {
				if now, _ := s.Get(it.ID); now.Label != "" {
					t.Errorf("%s looks unknown and was accepted as %s", it.Path, now.Label)
				}
			}
		})
	}
}

// What is said after a spot check holds: in 19 of 20 cases, the number of wrong labels among
// the rest lies in the interval, however many there are.
func TestSpotCheckCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ all, wrong int }{{40, 0}, {40, 2}, {300, 3}, {300, 30}, {300, 105}, {2000, 100}} {
		const draws, drawn = 400, 20
		covered := 0
		for range draws {
			k := 0
			for _, i := range rng.Perm(c.all)[:drawn] {
				if i < c.wrong {
					k++
				}
			}
			wrong, low, high := checked(c.all-drawn, drawn, k)
			if left := float64(c.wrong - k); low <= left && left <= high {
				covered++
			}
			if !(0 <= low && low <= wrong && wrong <= high && high <= float64(c.all-drawn)) {
				t.Fatalf("%+v: %d of %d wrong: %v, %v to %v", c, k, drawn, wrong, low, high)
			}
		}
		if share := float64(covered) / draws; share < 0.95 {
			t.Errorf("%+v: covered in %.3f of the draws", c, share)
		}
	}
	// scipy.stats.hypergeom(100, K, 20): sf(1) of K = 2 is 0.038, and cdf(2) of K = 29 is 0.029, of 30 0.023.
	if _, low, high := checked(80, 20, 2); low != 0 || high != 27 {
		t.Errorf("2 of 20 wrong: %v to %v of 80", low, high)
	}
	// All that are left are wrong or right if everything but one was drawn.
	if _, low, high := checked(1, 20, 0); low != 0 || high != 1 {
		t.Errorf("one is left: %v to %v", low, high)
	}
}

// A spot check draws from what would be accepted, once; decisions on these photos, and on
// no others, are its answers; it ends when the rest is accepted, and outlives a restart.
func TestSpotCheck(t *testing.T) {
	s := strangers(t, "plda")
	known, _ := open(t, s, account.SureEnough)
	before := s.Acceptable(account.SureEnough, Query{})
	drawn, err := s.SpotCheck(account.SureEnough, "", 20)
	if err != nil || len(drawn) != 20 {
		t.Fatalf("%d drawn, %v", len(drawn), err)
	}
	for _, id := range drawn {
		if !slices.ContainsFunc(known, func(it Item) bool { return it.ID == id }) {
			t.Fatal("a photo was drawn that would not be accepted")
		}
	}
	if again, err := s.SpotCheck(account.SureEnough, "", 20); err != nil || !slices.Equal(again, drawn) {
		t.Errorf("those that wait are not the ones to check: %v", err)
	}
	if a := s.Acceptable(account.SureEnough, Query{}); a.Checked != 0 || len(a.Drawn) != 20 || a.Wrong != before.Wrong {
		t.Errorf("nobody has decided: %+v", a)
	}
	predicted := map[ID]string{}
	for _, it := range known {
		predicted[it.ID] = it.Top[0].Label
	}
	others := 0
	for _, it := range known { // says nothing of those drawn at random
		if !slices.Contains(drawn, it.ID) && others < 3 {
			do(t, s, Decision{Do: Label, Images: []ID{it.ID}, Class: "other"})
			others++
		}
	}
	do(t, s, Decision{Do: Skip, Images: drawn[12:13]}) // says nothing
	for i, id := range drawn[:12] {
		name := predicted[id]
		if i == 0 {
			do(t, s, Decision{Do: Ignore, Images: []ID{id}})
			continue
		}
		if i == 1 {
			name = "other"
		}
		do(t, s, Decision{Do: Label, Images: []ID{id}, Class: name})
	}
	s.Wait()
	a := s.Acceptable(account.SureEnough, Query{})
	if a.Checked != 12 || a.Correct != 10 || len(a.Drawn) != 8 {
		t.Errorf("10 of 12 are right: %+v", a)
	}
	wrong, low, high := checked(a.Images, 12, 2)
	if a.Wrong != wrong || a.Low != low || a.High != high {
		t.Errorf("%+v, want %v, %v to %v", a, wrong, low, high)
	}
	if b := s.Acceptable(0.9, Query{}); b.Checked != 0 {
		t.Errorf("photos drawn above %v say nothing of those above 0.9: %+v", account.SureEnough, b)
	}
	must.Get(s.Accept(account.SureEnough, Query{}))(t)
	if a := s.Acceptable(account.SureEnough, Query{}); a.Checked != 0 || len(a.Drawn) != 0 {
		t.Errorf("the rest was accepted: %+v", a)
	}
	must.Get(s.Undo())(t)
	if a := s.Acceptable(account.SureEnough, Query{}); a.Checked != 12 || a.Correct != 10 {
		t.Errorf("accepting was undone: %+v", a)
	}
	if _, err := s.SpotCheck(1.5, "", 20); err == nil {
		t.Error("a probability of 1.5")
	}
}

// What was accepted in bulk is listed, what came last first and of that the least certain, and
// what is left of one acceptance is taken back as one.
func TestAcceptedIsLookedThrough(t *testing.T) {
	s := strangers(t, "ncm")
	known, _ := open(t, s, 0.5)
	first := must.Get(s.Accept(0.5, Query{Class: known[0].Top[0].Label}))(t)
	second := must.Get(s.Accept(0.5, Query{}))(t)
	list := func(of int) []Item {
		t.Helper()
		page := must.Get(s.List(Query{View: Accepted, Of: of, Limit: 1000}))(t)
		return page.Items
	}
	all := list(0)
	if len(all) != len(first.Images)+len(second.Images) || len(list(first.Seq)) != len(first.Images) {
		t.Errorf("%d and %d photos are listed, want %d and %d", len(all), len(list(first.Seq)),
			len(first.Images)+len(second.Images), len(first.Images))
	}
	for i, it := range all {
		if last := i < len(second.Images); slices.Contains(second.Images, it.ID) != last {
			t.Fatalf("photo %d is of the wrong acceptance", i)
		}
		sure := func(it Item) float32 { return float32(it.Top[0].Probability) } // as precise as it is sorted
		if i > 0 && i != len(second.Images) && sure(it) < sure(all[i-1]) {
			t.Fatalf("photo %d is less certain than the one before", i)
		}
	}
	do(t, s, Decision{Do: Label, Images: second.Images[:1], Class: "checked"})
	l := do(t, s, Decision{Do: Unlabel, Of: second.Seq})
	if !slices.Equal(l.Images, second.Images[1:]) || len(list(0)) != len(first.Images) {
		t.Errorf("took back %d of %d photos", len(l.Images), len(second.Images)-1)
	}
	if it, _ := s.Get(second.Images[0]); it.Label != "checked" {
		t.Errorf("what a person confirmed is %q", it.Label)
	}
	if _, err := s.Do(Decision{Do: Unlabel, Of: second.Seq}); !refused(err, Conflict) {
		t.Errorf("taken back twice: %v", err)
	}
	if _, err := s.Undo(); err != nil || len(list(second.Seq)) != len(second.Images)-1 {
		t.Errorf("undone, %d photos are listed: %v", len(list(second.Seq)), err)
	}
}
