package teach

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Any line of the journal can be gone back to: the labels and the saved model are
// those of then, whatever was gone back to or undone since, and after a restart too.
func TestGoBack(t *testing.T) {
	w := newWorld(4, 20)
	dir := t.TempDir()
	s := w.openAt(t, dir, "plda")
	w.name(t, s, upTo(0, 12)...)
	early, labels := save(t, s), fmt.Sprint(s.labels())
	then := s.Status().Seq
	w.name(t, s, upTo(12, 20)...)
	do(t, s, Decision{Do: Rename, Class: "class 0", To: "a"})
	do(t, s, Decision{Do: Merge, Class: "a", To: "class 1"})
	late, merged := save(t, s), s.Status().Seq
	back := func(seq int) {
		t.Helper()
		must.Get(s.GoBack(seq))(t)
	}
	expect := func(what string, want []byte) {
		t.Helper()
		if !bytes.Equal(save(t, s), want) {
			t.Errorf("%s: another model", what)
		}
	}
	back(then)
	if got := fmt.Sprint(s.labels()); got != labels {
		t.Errorf("labels %s, then %s", got, labels)
	}
	expect("back", early)
	undone := 0
	for _, step := range s.History(0, 1000) {
		if step.Undone {
			undone++
		}
	}
	if undone != 10 {
		t.Errorf("%d lines are undone, want 10", undone)
	}
	must.Get(s.Undo())(t)
	expect("undone", late)
	back(then)
	w.name(t, s, 30)
	branch := save(t, s)
	back(merged)
	expect("back to what was left", late)
	back(s.state.done.before.last.Seq) // to the decision before, in the other branch
	expect("back to a line after going back", branch)
	for _, seq := range []int{0, 1000} {
		if _, err := s.GoBack(seq); !refused(err, Unknown) {
			t.Errorf("back to %d: %v", seq, err)
		}
	}
	if _, err := s.GoBack(s.Status().Seq); !refused(err, Conflict) {
		t.Errorf("back to now: %v", err)
	}
	must.Do(t, s.Close())
	s = w.openAt(t, dir, "plda")
	expect("replay", branch)
}

// The points of a journal say when it was fitted, and what came since.
func TestPoints(t *testing.T) {
	w := newWorld(3, 20)
	dir := t.TempDir()
	s := w.openAt(t, dir, "plda")
	w.name(t, s, upTo(0, 6)...)
	save(t, s)
	do(t, s, Decision{Do: Rename, Class: "class 0", To: "a"})
	do(t, s, Decision{Do: Unlabel, Images: []ID{w.photos[5].ID}})
	points, err := Points(filepath.Join(dir, "m.model")) // in use
	if err != nil || len(points) < 2 {
		t.Fatal(points, err)
	}
	decisions := 0
	for _, p := range points {
		decisions += p.Decisions
	}
	last := points[len(points)-1]
	if decisions != 8 || last.Labels != 5 || last.Decisions != 2 || last.Seq != s.Status().Seq {
		t.Errorf("%d decisions, the last point is %+v", decisions, last)
	}
	if !slices.Equal(last.New, []string{"a"}) || !slices.Equal(last.Gone, []string{"class 0"}) {
		t.Errorf("new %v, gone %v", last.New, last.Gone)
	}
	if points, err := Points(filepath.Join(dir, "other")); err != nil || len(points) != 0 {
		t.Errorf("without a journal: %v, %v", points, err)
	}
}

// The journal keeps the embeddings that a line teaches, once; the history has none.
func TestHistoryHasNoEmbeddings(t *testing.T) {
	w := newWorld(2, 10)
	s := w.openAt(t, t.TempDir(), "plda")
	line := do(t, s, Decision{Do: Label, Images: []ID{w.photos[0].ID}, Class: "class 0"})
	if s.journal.embedding(w.photos[0].ID) == nil {
		t.Fatal("the journal has no embedding of the photo")
	}
	for _, l := range []Line{line, s.History(0, 1)[0].Line} {
		if l.Do != Label || l.Embeddings != nil {
			t.Errorf("line %q has %d embeddings", l.Do, len(l.Embeddings))
		}
	}
}
