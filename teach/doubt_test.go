package teach

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// mislabelled returns a session of a model that was trained on a folder in which one photo,
// the first returned, lies with another class than the second returned.
func mislabelled(t *testing.T) (*Session, ID, string) {
	t.Helper()
	w := newWorld(6, 12)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	id := w.photos[5].ID
	w.photos[5].Class = "class 1"
	dir := t.TempDir()
	w.trainAt(t, dir, upTo(0, len(w.photos))...)
	s := w.openAt(t, dir, "plda")
	s.Wait()
	if len(s.left.photos) == 0 {
		t.Fatal("no example was left out")
	}
	return s, id, w.truth[id]
}

func list(t *testing.T, s *Session, view View) []Item {
	t.Helper()
	page := must.Get(s.List(Query{View: view, Limit: 1000}))(t)
	return page.Items
}

// A photo says what it should rather be called exactly if its label is in doubt, and no
// longer when a person has confirmed it.
func TestDoubtNamesAClass(t *testing.T) {
	s, id, truth := mislabelled(t)
	suspicious := map[ID]bool{}
	for _, it := range list(t, s, Suspicious) {
		suspicious[it.ID] = true
	}
	for _, it := range list(t, s, All) {
		if suspicious[it.ID] != (it.Rather != "") || it.Rather == it.Label {
			t.Errorf("%s is %s, rather %q; in doubt: %v", it.Path, it.Label, it.Rather, suspicious[it.ID])
		}
	}
	if it, _ := s.Get(id); it.Label != "class 1" || it.Rather != truth {
		t.Errorf("the wrong label is %s, rather %q, not %s", it.Label, it.Rather, truth)
	}
	do(t, s, Decision{Do: Label, Images: []ID{id}, Class: "class 1"})
	if it, _ := s.Get(id); it.Rather != "" {
		t.Errorf("a label that a person confirmed is rather %s", it.Rather)
	}
}

// A class with another name is not in doubt, though the examples were left out before it
// had the name.
func TestRenamingDoubtsNothing(t *testing.T) {
	s, id, _ := mislabelled(t)
	before := len(list(t, s, Suspicious))
	do(t, s, Decision{Do: Rename, Class: "class 2", To: "two"})
	for _, it := range list(t, s, Suspicious) {
		if it.Label == "two" || it.Rather == "class 2" {
			t.Errorf("%s is %s, rather %s", it.Path, it.Label, it.Rather)
		}
	}
	if after := list(t, s, Suspicious); len(after) != before || after[0].ID != id {
		t.Errorf("%d labels are in doubt after renaming, %d were before", len(after), before)
	}
}
