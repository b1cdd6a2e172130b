package teach

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// Photos that are set aside are neither learned, accepted nor exported, not even what the
// model had learned; undo and a label bring them back.
func TestSetAside(t *testing.T) {
	w, dir := newWorld(3, 6), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 1, 2, 3, 4, 5)
	s.Wait()
	do(t, s, Decision{Do: Ignore, Images: []ID{w.photos[0].ID, w.photos[6].ID}})
	do(t, s, Decision{Do: Skip, Images: []ID{w.photos[7].ID}})
	must.Get(s.Accept(0, Query{}))(t)
	for i, by := range map[int]label.By{0: label.Ignored, 6: label.Ignored, 7: label.Skipped} {
		if it, _ := s.Get(w.photos[i].ID); it.Label != "" || it.By != by {
			t.Errorf("photo %d is %q by %s", i, it.Label, it.By)
		}
	}
	for _, l := range s.Labels() {
		if l.Label == "" {
			t.Errorf("%s is exported without a class", l.Path)
		}
	}
	save(t, s)
	m, err := model.Load(s.options.Model)
	if err != nil || m.SampleCount() != 5 || len(m.LearnedAs()(model.Hash(w.photos[0].ID))) > 0 {
		t.Errorf("learned %d samples, %v", m.SampleCount(), err)
	}
	decided := must.Get(Decided(s.options.Model, m))(t)
	if d, ok := decided(w.photos[6].ID); !ok || d.Class != "" || d.By != "person" {
		t.Errorf("an ignored photo is decided as %+v", d)
	}
	do(t, s, Decision{Do: Unlabel, Images: []ID{w.photos[6].ID}})
	w.name(t, s, 0)
	if it, _ := s.Get(w.photos[0].ID); it.Label != w.truth[w.photos[0].ID] {
		t.Errorf("labelled again it is %q", it.Label)
	}
}

// Skipped photos are the last to look at, ignored ones are not among them.
func TestSkippedComesLast(t *testing.T) {
	w := newWorld(3, 6)
	s := w.openAt(t, t.TempDir(), "ncm")
	w.name(t, s, 0, 1, 2, 3, 4, 5)
	s.Wait()
	page := func() []Item {
		p := must.Get(s.List(Query{View: Check, Limit: 100}))(t)
		return p.Items
	}
	before := page()
	do(t, s, Decision{Do: Skip, Images: []ID{before[0].ID}})
	do(t, s, Decision{Do: Ignore, Images: []ID{before[1].ID}})
	after := page()
	if len(after) != len(before)-1 || after[len(after)-1].ID != before[0].ID {
		t.Errorf("%d photos to look at after %d", len(after), len(before))
	}
}
