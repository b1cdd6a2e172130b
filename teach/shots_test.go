package teach

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// TestOrderOfTime: every view can be looked through in the order in which its photos were
// taken, page by page; those without a time come last and are counted.
func TestOrderOfTime(t *testing.T) {
	w := newWorld(3, 20)
	s := w.openAt(t, t.TempDir(), "plda")
	w.name(t, s, upTo(0, 12)...)
	s.Wait()
	if unseen := s.Unseen(7); len(unseen) != 7 {
		t.Fatalf("%d photos to look into", len(unseen))
	}
	first := time.Date(2025, 6, 14, 10, 0, 0, 0, time.UTC)
	shots := map[ID]photometa.Shot{}
	for i, p := range w.photos {
		shot := photometa.Shot{Camera: "C"}
		if i%5 != 0 { // the later a photo was found, the earlier it was taken
			shot.Time = first.Add(-time.Duration(i) * time.Hour)
		}
		if i%2 == 1 { // the clock shows the same, whatever its zone
			shot.Zoned, shot.Time = true, shot.Time.Add(-2*time.Hour).In(time.FixedZone("", 7200))
		}
		if i%5 == 0 {
			shot.Time = time.Time{}
		}
		shots[p.ID] = shot
	}
	s.Saw(shots)
	if unseen := s.Unseen(7); len(unseen) != 0 || s.Status().Seen != len(w.photos) {
		t.Errorf("%d photos to look into, %+v", len(unseen), s.Status())
	}
	for _, view := range []View{All, Check} {
		q := Query{View: view, ByTime: true, Limit: 9}
		all, untimed := s.pages(t, q)
		if all[0].Shot.Time.IsZero() || untimed == 0 {
			t.Fatalf("%s: %d without a time, first %v", view, untimed, all[0].Shot)
		}
		last := len(all) - untimed
		if !slices.IsSortedFunc(all[:last], func(a, b Item) int { return a.Shot.Clock().Compare(b.Shot.Clock()) }) {
			t.Errorf("%s is not in the order of time", view)
		}
		if slices.ContainsFunc(all[last:], func(it Item) bool { return !it.Shot.Time.IsZero() }) {
			t.Errorf("%s: photos with a time are behind those without", view)
		}
	}
	found, untimed := s.pages(t, Query{View: All, TakenSince: first.Add(-9 * time.Hour),
		TakenUntil: first.Add(-6 * time.Hour), Limit: 500})
	if len(found) != 3 || untimed != 12 { // 9, 8 and 7 hours before; the end is excluded
		t.Errorf("%d photos in three hours, %d without a time", len(found), untimed)
	}
	if _, untimed := s.pages(t, Query{View: All, Limit: 500}); untimed != 0 {
		t.Errorf("%d photos without a time, which nobody asked for", untimed)
	}
}

// pages returns all photos of a view, and how many tell no time.
func (s *Session) pages(t *testing.T, q Query) (all []Item, untimed int) {
	t.Helper()
	must.Get(s.List(q))(t)
	s.Wait() // the first look may begin what puts the questions in order
	for {
		p := must.Get(s.List(q))(t)
		all = append(all, p.Items...)
		if q.After = p.Next; q.After == "" {
			if len(all) != p.Total {
				t.Errorf("%d photos of %d", len(all), p.Total)
			}
			return all, p.Untimed
		}
	}
}
