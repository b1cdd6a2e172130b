package teach

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// batch returns rows of w as a folder would give them, all of a class, or of their own.
func (w world) batch(class string, rows ...int) model.Batch {
	b := model.Batch{X: dense.New32(len(rows), len(w.vectors[0]))}
	for k, i := range rows {
		copy(dense.Row32(b.X, k), w.vectors[i])
		of := class
		if of == "" {
			of = w.truth[w.photos[i].ID]
		}
		b.Labels, b.Content = append(b.Labels, of), append(b.Content, model.Hash(w.photos[i].ID))
		b.Paths = append(b.Paths, w.photos[i].Path)
	}
	return b
}

// A folder is one line: it is learned, saved, undone and redone as a whole, and again it
// changes nothing.
func TestImport(t *testing.T) {
	w, dir := newWorld(3, 4), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 4)
	o, err := s.Import(w.batch("", 0, 1, 5, 8), nil, "")
	if err != nil || o.Added != 3 || o.AlreadyKnown != 1 || len(o.NewClasses) != 1 || len(o.MoreOf) != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	save(t, s)
	again, err := s.Import(w.batch("", 0, 1, 5, 8), nil, "")
	if err != nil || again.Added != 0 || again.AlreadyKnown != 4 {
		t.Errorf("again: %+v, %v", again, err)
	}
	taught := strings.Join(s.labels(), " ")
	must.Get(s.Undo())(t)
	if n := len(s.labels()); n != 2 {
		t.Errorf("%d labels after undo", n)
	}
	must.Get(s.Redo())(t)
	must.Do(t, s.Close())
	s = w.openAt(t, dir, "ncm")
	if got := strings.Join(s.labels(), " "); got != taught {
		t.Errorf("reopened: %s, want %s", got, taught)
	}
	s.Wait()
	w.agrees(t, s)
}

// A list that contradicts decisions changes nothing until somebody chooses.
func TestImportConflicts(t *testing.T) {
	for prefer, want := range map[Preference]string{Decisions: "cat", Lists: "odd"} {
		w := newWorld(3, 8)
		s := w.openAt(t, t.TempDir(), "ncm")
		w.name(t, s, 8)
		do(t, s, Decision{Do: Label, Images: []ID{w.photos[0].ID, w.photos[1].ID, w.photos[2].ID, w.photos[3].ID,
			w.photos[4].ID, w.photos[5].ID}, Class: "cat"})
		lines := len(s.state.lines)
		odd := w.batch("odd", 0, 1, 2, 3, 4, 5, 6)
		_, err := s.Import(odd, nil, "")
		conflicts := (*ConflictsError)(nil)
		if !errors.As(err, &conflicts) || conflicts.All != 6 || len(conflicts.First) != 5 ||
			!strings.Contains(err.Error(), w.photos[0].Path) {
			t.Fatalf("%v", err)
		}
		if len(s.state.lines) != lines {
			t.Error("a list that was refused has a line")
		}
		must.Get(s.Import(odd, nil, prefer))(t)
		for i, of := range map[int]string{0: want, 6: "odd"} {
			if it, _ := s.Get(w.photos[i].ID); it.Label != of {
				t.Errorf("prefer %s: photo %d is %q, want %q", prefer, i, it.Label, of)
			}
		}
	}
}

// What a list sets aside is one line with what it gives a class, and contradicts decisions as that
// does. Forgetting one leaves no trace of it.
func TestImportSetsAside(t *testing.T) {
	w, dir := newWorld(3, 4), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 4)
	do(t, s, Decision{Do: Rename, Class: "class 1", To: "owl"})
	aside := []Aside{{Content: model.Hash(w.photos[2].ID), Path: "none.jpg"},
		{Content: model.Hash(w.photos[6].ID), Path: "both.jpg", Labels: []string{"class 1", "fox"}}}
	o, err := s.Import(w.batch("", 8), aside, "")
	if err != nil || o.Added != 1 || o.SetAside != 2 {
		t.Fatalf("%+v, %v", o, err)
	}
	o, err = s.Import(w.batch("", 8), aside, "")
	if err != nil || o.Added+o.SetAside != 0 || o.AlreadyKnown != 3 {
		t.Errorf("again: %+v, %v", o, err)
	}
	check := func(when string, want map[int]mark) {
		t.Helper()
		for i, m := range want {
			got := s.state.marks[w.photos[i].ID]
			if got.by != m.by || !slices.Equal(got.labels(), m.labels()) {
				t.Errorf("%s photo %d is %+v, want %+v", when, i, got, m)
			}
		}
	}
	foxAndOwl := []*class{{name: "fox"}, {name: "owl"}}
	want := map[int]mark{2: {by: label.Ignored}, 6: {by: label.Mixed, several: foxAndOwl}, 8: {by: label.Folder}}
	check("at first", want)
	must.Do(t, s.Close())
	s = w.openAt(t, dir, "ncm")
	check("reopened", want)
	conflicts := (*ConflictsError)(nil)
	if _, err = s.Import(w.batch("", 6), nil, ""); !errors.As(err, &conflicts) {
		t.Errorf("a class for a photo of several: %v", err)
	}
	_, err = s.Import(w.batch("", 1), []Aside{{Content: model.Hash(w.photos[0].ID), Path: "0.jpg"}}, "")
	if !errors.As(err, &conflicts) || !strings.Contains(err.Error(), "of no class in the folder or list") {
		t.Errorf("a decided photo set aside: %v", err)
	}
	must.Get2(s.Forget(t.Context(), []ID{w.photos[6].ID}))(t)
	if text, err := os.ReadFile(dir + "/m.model.journal"); err != nil || strings.Contains(string(text),
		w.photos[6].ID.String()) {
		t.Errorf("the journal has a forgotten photo: %v", err)
	}
	check("after forgetting", map[int]mark{2: {by: label.Ignored}, 6: {}, 8: {by: label.Folder}})
}

// What was accepted in bulk is the guess of a model, and gives way; a class has its
// present name.
func TestImportOfGuessesAndOldNames(t *testing.T) {
	st := fold(journalled(
		Line{Decision: Decision{Do: Accept, Images: photoIDs("a")}, Classes: []string{"dog"}},
		called(Rename, "cat", "lynx")), newOrigin([]string{"cat", "dog"}, nil))
	l, _, err := st.imported(model.Batch{Labels: []string{"cat"}, Content: []model.Hash{model.Hash(photoIDs("a")[0])},
		Paths: []string{"a"}}, nil, "", ConflictsError{})
	if err != nil || len(l.Images) != 1 || l.Classes[0] != "lynx" {
		t.Errorf("%+v, %v", l, err)
	}
}

// A MODEL that was taught without the journal is taken as it is: what it
// learned is added, and nothing that was decided is lost.
func TestOpenAdoptsWhatOthersLearned(t *testing.T) {
	w, dir := newWorld(3, 4), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	w.name(t, s, 0, 4)
	save(t, s)
	w.name(t, s, 1) // which MODEL has not learned
	file := s.options.Model
	must.Do(t, s.Close())
	m, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	must.Get(m.Learn(t.Context(), w.batch("", 8, 9)))(t)
	must.Do(t, m.Save(file))
	for range 2 {
		s = w.openAt(t, dir, "ncm")
		if n := len(s.labels()); n != 5 {
			t.Fatalf("%d labels", n)
		}
		must.Do(t, s.Close())
	}
	s = w.openAt(t, dir, "ncm")
	if s.Status().Unsaved == 0 {
		t.Error("nothing is unsaved")
	}
	save(t, s)
	must.Do(t, s.Close())
	must.Do(t, os.Remove(file))
	s = w.openAt(t, dir, "ncm")
	save(t, s)
	if m, err = model.Load(file); err != nil || m.SampleCount() != 5 {
		t.Errorf("%d samples, %v", m.SampleCount(), err)
	}
}
