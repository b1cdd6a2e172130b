package teach

import (
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// What people decided is found while the session is open, before MODEL is saved, and after;
// renames count, and what was undone does not.
func TestDecided(t *testing.T) {
	w, dir := newWorld(3, 4), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 4)
	do(t, s, Decision{Do: Rename, Class: w.truth[w.photos[4].ID], To: "renamed"})
	save(t, s)
	w.name(t, s, 1, 2)
	must.Get(s.Undo())(t)
	m := must.Get(model.Load(s.options.Model))(t)
	decided := must.Get(Decided(s.options.Model, m))(t)
	for i, want := range map[int]string{0: w.truth[w.photos[0].ID], 4: "renamed", 1: w.truth[w.photos[1].ID], 2: ""} {
		d, ok := decided(w.photos[i].ID)
		if d.Class != want || ok != (want != "") || ok && d.By != label.Person {
			t.Errorf("photo %d: %+v, want %q", i, d, want)
		}
	}
}

// What a model learned from folders is decided, unless they contradict each other.
func TestDecidedInFolders(t *testing.T) {
	o := newOrigin([]string{"ant", "bee"}, []model.SampleID{
		{Content: model.Hash{1}, Class: "ant"}, {Content: model.Hash{2}, Class: "ant"},
		{Content: model.Hash{2}, Class: "bee"},
	})
	st := fold(nil, o)
	if d, ok := st.decision(ID{1}); !ok || !reflect.DeepEqual(d, label.Decision{Class: "ant", By: label.List}) {
		t.Errorf("%+v, %v", d, ok)
	}
	if d, ok := st.decision(ID{2}); ok {
		t.Errorf("a photo of two classes: %+v", d)
	}
}

// Every file has its label, also copies; and a client that reads them slowly keeps no
// decision waiting.
func TestLabelsOfCopies(t *testing.T) {
	w := newWorld(2, 2)
	s := w.openAt(t, t.TempDir(), "ncm")
	p := w.photos[0]
	p.Path = "elsewhere/" + p.Path
	must.Do(t, s.Add([]Photo{p}, w.vectors[:1]))
	w.name(t, s, 0)
	got := s.Labels()
	if len(got) != 2 || got[0].Label != got[1].Label || got[1].Path == got[0].Path {
		t.Errorf("labels %+v", got)
	}
}
