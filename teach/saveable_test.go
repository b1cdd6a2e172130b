package teach

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/model"
)

// keeps and forgets are how many photos of each class a base model learns that keeps the embeddings of
// all, and one that does not.
const keeps, forgets = 4, 22

// An origin of a photo is how a session comes to know photo 0, of class 0.
type photoOrigin struct {
	// arrange changes what the base model learns, prepare what the session then knows.
	arrange func(w *world)
	prepare func(t *testing.T, w *world, s *Session, id ID)
}

func photoOrigins() map[string]photoOrigin {
	nothing := func(*testing.T, *world, *Session, ID) {}
	copied := func(class string) func(*world) {
		return func(w *world) {
			again := w.photos[0]
			again.Path, again.Class = "cam9/copy.jpg", class
			w.photos, w.vectors = append(w.photos, again), append(w.vectors, w.vectors[0])
		}
	}
	unlearned := func(w *world) { w.photos[0].Class = "" }
	return map[string]photoOrigin{
		"learned": {func(*world) {}, nothing},
		"learned as a box": {func(w *world) {
			w.photos[0].Path, w.photos[0].Box = "cam0/box.jpg#1", &dataset.Box{Number: 1, W: 0.5, H: 0.5}
		}, nothing},
		"learned, with a copy": {copied(""), nothing},
		"learned twice":        {copied("class 1"), nothing},
		"learned, and gone": {func(*world) {}, func(_ *testing.T, w *world, s *Session, _ ID) {
			s.Remove([]string{w.photos[0].Path})
		}},
		"of the folder": {unlearned, nothing},
		"named on the page": {unlearned, func(t *testing.T, _ *world, s *Session, id ID) {
			do(t, s, Decision{Do: Label, Images: []ID{id}, Class: "class 0"})
		}},
		"taught": {unlearned, func(t *testing.T, w *world, s *Session, id ID) {
			must.Get(s.Teach([]ID{id}, w.vectors[:1], "class 0"))(t)
		}},
		"of a list": {unlearned, func(t *testing.T, w *world, s *Session, _ ID) {
			must.Get(s.Import(w.batch("class 0", 0), nil, ""))(t)
		}},
		"merged": {unlearned, func(t *testing.T, w *world, s *Session, id ID) {
			must.Do(t, w.mergeFrom(t, s, Decision{Do: Label, Images: []ID{id}, Class: "class 0"}))
		}},
		"accepted": {unlearned, func(t *testing.T, _ *world, s *Session, _ ID) {
			if _, err := s.Accept(0, Query{}); err != nil && !refused(err, Conflict) {
				t.Fatal(err)
			}
		}},
	}
}

// mergeFrom merges a project that began with nothing, in which something was decided; it rules.
func (w *world) mergeFrom(t *testing.T, s *Session, d Decision) error {
	t.Helper()
	dir := testenv.MemoryDir(t)
	do(t, w.openAt(t, dir, s.base.model.Method), d)
	_, err := s.Merge(filepath.Join(dir, "m.model"), Lists)
	return err
}

type photoDecision func(t *testing.T, w *world, s *Session, id ID) error

// photoDecisions are those about photo 0 or its class.
func photoDecisions() map[string]photoDecision {
	out := map[string]photoDecision{
		"list": func(_ *testing.T, w *world, s *Session, _ ID) error {
			_, err := s.Import(w.batch("listed", 0), nil, Lists)
			return err
		},
		"accept": func(_ *testing.T, _ *world, s *Session, _ ID) error { _, err := s.Accept(0, Query{}); return err },
		"learn": func(_ *testing.T, w *world, s *Session, id ID) error {
			_, err := s.Teach([]ID{id}, w.vectors[:1], "taught")
			return err
		},
		"forget": func(t *testing.T, _ *world, s *Session, id ID) error {
			_, _, err := s.Forget(t.Context(), []ID{id})
			return err
		},
	}
	for name, labels := range map[string][]string{"list of no class": nil, "list of several": {"class 1", "fox"}} {
		out[name] = func(_ *testing.T, w *world, s *Session, id ID) error {
			_, err := s.Import(w.batch(""), []Aside{{Content: model.Hash(id), Path: "0.jpg", Labels: labels}}, Lists)
			return err
		}
	}
	for name, d := range map[string]Decision{
		"label": {Do: Label, Class: "class 0"}, "relabel": {Do: Label, Class: "class 1"},
		"new class": {Do: Label, Class: "new"}, "unlabel": {Do: Unlabel}, "ignore": {Do: Ignore}, "skip": {Do: Skip},
		"several": {Do: Several, Labels: []string{"class 0", "fox"}},
	} {
		of := func(id ID) Decision { d.Images = []ID{id}; return d }
		out[name] = func(_ *testing.T, _ *world, s *Session, id ID) error { _, err := s.Do(of(id)); return err }
		if d.Do != Unlabel {
			out["merged "+name] = func(t *testing.T, w *world, s *Session, id ID) error {
				return w.mergeFrom(t, s, of(id))
			}
		}
	}
	for name, d := range map[string]Decision{
		"rename":        {Do: Rename, Class: "class 0", To: "renamed"},
		"merge classes": {Do: Merge, Class: "class 0", To: "class 1"},
	} {
		out[name] = func(_ *testing.T, _ *world, s *Session, _ ID) error { _, err := s.Do(d); return err }
	}
	return out
}

// TestSaveable: after every decision about a photo of every origin, and its undo, MODEL can be saved
// with what was decided, also by a session that finds no photo.
func TestSaveable(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes hundreds of decisions")
	}
	origins, decisions := photoOrigins(), photoDecisions()
	for _, each := range []int{keeps, forgets} {
		for _, origin := range slices.Sorted(maps.Keys(origins)) {
			t.Run(fmt.Sprintf("%d of a class/%s", each, origin), func(t *testing.T) {
				for _, name := range slices.Sorted(maps.Keys(decisions)) {
					t.Run(name, func(t *testing.T) { origins[origin].saveable(t, each, decisions[name]) })
				}
			})
		}
	}
}

// begun returns a session of a base model of so many photos of each class, with photo 0 prepared.
func (from photoOrigin) begun(t *testing.T, each int) (*world, *Session) {
	t.Helper()
	w, dir := newWorld(3, each), testenv.MemoryDir(t)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	from.arrange(&w)
	rows := slices.DeleteFunc(upTo(0, len(w.photos)), func(i int) bool { return w.photos[i].Class == "" })
	w.trainAt(t, dir, rows...)
	s := w.openAt(t, dir, "plda")
	s.Wait()
	if s.base.complete != (each == keeps) {
		t.Fatalf("of %d of a class the base model keeps all: %v", each, s.base.complete)
	}
	from.prepare(t, &w, s, w.photos[0].ID)
	return &w, s
}

func (from photoOrigin) saveable(t *testing.T, each int, decide photoDecision) {
	w, s := from.begun(t, each)
	lines := len(s.state.lines)
	err := decide(t, w, s, w.photos[0].ID)
	if err != nil && !errors.As(err, new(*Refusal)) {
		t.Fatalf("decide: %v", err)
	}
	hasSaved(t, s, "decided")
	known := s.state.summary()
	must.Do(t, s.Close())
	none := world{vectors: w.vectors}
	s = none.openAt(t, filepath.Dir(s.options.Model), "plda")
	if got := s.state.summary(); got != known {
		t.Fatalf("reopened: %s, want %s", got, known)
	}
	hasSaved(t, s, "reopened without a photo")
	if err != nil || len(s.state.lines) == lines || s.state.done == nil {
		return
	}
	must.Get(s.Undo())(t)
	hasSaved(t, s, "undone")
}

// hasSaved checks that MODEL has learned what was decided once it is saved.
func hasSaved(t *testing.T, s *Session, when string) {
	t.Helper()
	s.Wait()
	if problem := s.Status().Problem; problem != nil {
		t.Fatalf("%s: %v", when, problem)
	}
	save(t, s)
	m := must.Get(model.Load(s.options.Model))(t)
	if want := s.state.examples(); !maps.Equal(setOf(want), setOf(samplesOf(m))) || len(want) != m.SampleCount() {
		t.Fatalf("%s: MODEL has learned %d samples, want %d", when, m.SampleCount(), len(want))
	}
}
