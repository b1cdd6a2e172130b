package teach

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// TestMerge: two people label two halves; merged, the labels and the model are those of one
// person who labelled the whole. Undo takes the other half back.
func TestMerge(t *testing.T) {
	w := newWorld(3, 20)
	first, second := upTo(0, 15), upTo(15, 30)
	one, whole := w.openAt(t, t.TempDir(), "plda"), w.openAt(t, t.TempDir(), "plda")
	dir := t.TempDir()
	two := w.openAt(t, dir, "plda")
	w.name(t, one, first...)
	w.name(t, two, second...)
	w.name(t, whole, append(first, second...)...)
	for _, s := range []*Session{two, whole} {
		do(t, s, Decision{Do: Ignore, Images: []ID{w.photos[40].ID}})
		do(t, s, Decision{Do: Several, Images: []ID{w.photos[41].ID}, Labels: []string{"class 1", "fox"}})
	}
	do(t, two, Decision{Do: Skip, Images: []ID{w.photos[42].ID}})
	for _, s := range []*Session{two, whole} {
		do(t, s, Decision{Do: Rename, Class: "class 1", To: "owl"})
	}
	do(t, one, Decision{Do: Rename, Class: "class 1", To: "owl"})
	o, err := one.Merge(filepath.Join(dir, "m.model"), "") // which is open
	if err != nil || o.Added != 15 || o.SetAside != 2 {
		t.Fatalf("%+v, %v", o, err)
	}
	if again, err := one.Merge(filepath.Join(dir, "m.model"), ""); err != nil || again.Added+again.SetAside != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	got := strings.ReplaceAll(strings.Join(one.labels(), " "), " list", " person") // what is merged is a list
	if want := strings.Join(whole.labels(), " "); got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
	for i, want := range map[int]label.By{40: label.Ignored, 41: label.Mixed, 42: ""} {
		if it, _ := one.Get(w.photos[i].ID); it.By != want {
			t.Errorf("photo %d is by %q, want %q", i, it.By, want)
		}
	}
	save(t, one)
	save(t, whole)
	for i, p := range w.photos {
		got, _ := one.Get(p.ID)
		want, _ := whole.Get(p.ID)
		if got.Top[0].Label != want.Top[0].Label ||
			math.Abs(got.Top[0].Probability-want.Top[0].Probability) > 1e-6 {
			t.Errorf("photo %d: %+v, want %+v", i, got.Top[0], want.Top[0])
		}
	}
	must.Get(one.Undo())(t)
	if n := len(one.labels()); n != 15 {
		t.Errorf("%d labels after undo", n)
	}
}

// TestMergeConflicts: photos that both decided differently are named by their files, and
// nothing changes until somebody chooses.
func TestMergeConflicts(t *testing.T) {
	w := newWorld(3, 8)
	for prefer, want := range map[Preference]string{Decisions: "class 0", Lists: "cat"} {
		dir := t.TempDir()
		mine, theirs := w.openAt(t, t.TempDir(), "ncm"), w.openAt(t, dir, "ncm")
		w.name(t, mine, 0, 1)
		w.name(t, theirs, 2)
		do(t, theirs, Decision{Do: Label, Images: []ID{w.photos[0].ID}, Class: "cat"})
		file := filepath.Join(dir, "m.model")
		conflicts := (*ConflictsError)(nil)
		if _, err := mine.Merge(file, ""); !errors.As(err, &conflicts) || conflicts.All != 1 ||
			!strings.Contains(err.Error(), w.photos[0].Path) || len(mine.labels()) != 2 {
			t.Errorf("%v, %d labels", err, len(mine.labels()))
		}
		sides := w.photos[0].Path + ` is "class 0" (person) in this project, and "cat" in the project you are adding`
		if text := conflicts.Error(); !strings.HasSuffix(text, sides) ||
			!strings.Contains(text, "the project you are adding, m.model") {
			t.Errorf("the sides of a conflict are not named: %s", text)
		}
		must.Get(mine.Merge(file, prefer))(t)
		if it, _ := mine.Get(w.photos[0].ID); it.Label != want || len(mine.labels()) != 3 {
			t.Errorf("with %s: %q, %d labels", prefer, it.Label, len(mine.labels()))
		}
	}
}

// TestMergeRefuses what has no journal, or one of another network.
func TestMergeRefuses(t *testing.T) {
	w, dir := newWorld(3, 8), t.TempDir()
	mine := w.openAt(t, t.TempDir(), "ncm")
	refused := func(file, words string) {
		t.Helper()
		if _, err := mine.Merge(file, ""); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	refused(filepath.Join(dir, "m.model"), "it has no journal")
	other := fresh(t, "ncm")
	other.Provenance.Backbone.SHA256 = strings.Repeat("ab", 32)
	s := must.Get(Open(Options{Model: filepath.Join(dir, "m.model"), Fresh: other, Dim: dim, Temp: dir}))(t)
	must.Get(s.Teach([]ID{w.photos[0].ID}, w.vectors[:1], "a"))(t)
	must.Do(t, s.Close())
	refused(filepath.Join(dir, "m.model"), "another network")
	must.Do(t, os.WriteFile(filepath.Join(dir, "m.model.journal"), []byte("{}\n"), 0o600))
	refused(filepath.Join(dir, "m.model"), "m.model.journal")
	if n := len(mine.labels()); n != 0 {
		t.Errorf("%d labels", n)
	}
}

// TestMergeCarriesEveryDecision: whatever the base models of the two projects have learned, what was
// decided about a photo there holds here, and MODEL can be saved; what stays there is counted.
func TestMergeCarriesEveryDecision(t *testing.T) {
	decisions := map[string]struct {
		Decision
		class  string
		by     label.By
		labels []string
		left   string // part of what is said to be left out
	}{
		"confirm": {Decision{Do: Label, Class: "class 0"}, "class 0", label.Folder, nil, ""},
		"correct": {Decision{Do: Label, Class: "class 1"}, "class 1", label.Folder, nil, ""},
		"name":    {Decision{Do: Label, Class: "new"}, "new", label.Folder, nil, ""},
		"ignore":  {Decision{Do: Ignore}, "", label.Ignored, nil, ""},
		"several": {Decision{Do: Several, Labels: []string{"bee", "fox"}}, "", label.Mixed, []string{"bee", "fox"}, ""},
		"skip":    {Decision{Do: Skip}, "", "", nil, "1 photos are for later"},
		"rename":  {Decision{Do: Rename, Class: "class 0", To: "zero"}, "", "", nil, `"class 0" is "zero" there`},
		"merge":   {Decision{Do: Merge, Class: "class 0", To: "class 1"}, "", "", nil, `"class 0" is "class 1" there`},
	}
	for _, there := range []string{"learned", "of the folder"} {
		for _, here := range []string{"learned", "of the folder", "learned, and gone"} {
			for at, each := range [][2]int{{keeps, keeps}, {keeps, forgets}, {forgets, keeps}, {forgets, forgets}} {
				for name, d := range decisions {
					if testing.Short() && at > 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s here, %s there/%v/%s", here, there, each, name), func(t *testing.T) {
						w, mine := photoOrigins()[here].begun(t, each[0])
						_, theirs := photoOrigins()[there].begun(t, each[1])
						id := w.photos[0].ID
						before, by := mine.state.label(id, "")
						if d.Do != Rename && d.Do != Merge {
							d.Images = []ID{id}
						}
						do(t, theirs, d.Decision)
						o := must.Get(mine.Merge(theirs.options.Model, Lists))(t)
						class, who := mine.state.label(id, "")
						want, wantBy := d.class, d.by
						if d.left != "" {
							want, wantBy = before, by
						}
						if labels := mine.state.marks[id].labels(); class != want || who != wantBy ||
							!slices.Equal(labels, d.labels) {
							t.Errorf("the photo is %q by %q, %v, want %q by %q, %v", class, who, labels, want, wantBy,
								d.labels)
						}
						if said := strings.Join(o.LeftOut, "; "); !strings.Contains(said, d.left) ||
							d.left == "" && said != "" {
							t.Errorf("left out: %q, want %q", said, d.left)
						}
						hasSaved(t, mine, "merged")
					})
				}
			}
		}
	}
}

// A decision that needs an embedding which nobody has is counted.
func TestMergeCountsWhatIsLost(t *testing.T) {
	_, mine := photoOrigins()["learned"].begun(t, forgets)
	w, theirs := photoOrigins()["learned"].begun(t, keeps)
	must.Do(t, mine.Close())
	none := world{vectors: w.vectors}
	mine = none.openAt(t, filepath.Dir(mine.options.Model), "plda")
	dir := t.TempDir() // a project that sets aside a photo that only it has seen
	fresh := w.openAt(t, dir, "plda")
	do(t, fresh, Decision{Do: Ignore, Images: w.ids(0, 1)})
	o, err := mine.Merge(fresh.options.Model, "")
	if err != nil || o.SetAside != 0 || len(o.LeftOut) != 1 || !strings.HasPrefix(o.LeftOut[0], "2 decisions") {
		t.Errorf("%+v, %v", o, err)
	}
	do(t, theirs, Decision{Do: Ignore, Images: w.ids(0, 1)})
	o, err = mine.Merge(theirs.options.Model, Lists)
	if err != nil || o.SetAside != 2 || len(o.LeftOut) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	hasSaved(t, mine, "merged")
}
