package teach

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Forget that failed half-way, in a session that goes on, is finished by doing it
// again.
func TestForgetIsFinished(t *testing.T) {
	w := newWorld(3, 20)
	dir, other := t.TempDir(), t.TempDir()
	s, never := w.openAt(t, dir, "plda"), w.openAt(t, other, "plda")
	w.name(t, s, upTo(0, 20)...)
	w.name(t, never, upTo(1, 20)...)
	save(t, s)
	file := filepath.Join(dir, "m.model")
	obstacle := file + ".prev" // that cannot be removed
	if err := os.MkdirAll(filepath.Join(obstacle, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	gone := []ID{w.photos[0].ID}
	if _, _, err := s.Forget(t.Context(), gone); err == nil {
		t.Fatal("the previous version cannot be removed, and that is no error")
	}
	if n := s.Status().Person; n != 19 {
		t.Errorf("%d labels", n)
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if n, _, err := s.Forget(t.Context(), gone); n != want || err != nil {
			t.Errorf("forgot %d, want %d, %v", n, want, err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, save(t, never)) {
		t.Errorf("the model is another than one that never saw the photo, %v", err)
	}
}

// With fewer than two classes the model cannot be written again. Forget says so each
// time, and removes the previous version.
func TestForgetTheLastButOneClass(t *testing.T) {
	w := newWorld(2, 20)
	dir := t.TempDir()
	s := w.openAt(t, dir, "plda")
	for _, rows := range [][]int{{0, 1}, {3}} {
		w.name(t, s, rows...)
		save(t, s)
	}
	for range 2 {
		n, left, err := s.Forget(t.Context(), []ID{w.photos[0].ID})
		if n != 1 || err != nil ||
			!slices.ContainsFunc(left, func(text string) bool { return strings.Contains(text, "delete it") }) {
			t.Errorf("forgot %d, left %q, %v", n, left, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "m.model.prev")); err == nil {
			t.Error("the previous version is still there")
		}
	}
}

// What the base model learned, and cannot forget, is not found again and again.
func TestForgetsNotWhatTheBaseCannot(t *testing.T) {
	w := newWorld(3, 60)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	dir := t.TempDir()
	w.trainAt(t, dir, upTo(0, 150)...)
	s := w.openAt(t, dir, "plda")
	w.name(t, s, 160, 161)
	save(t, s)
	before := len(s.journal.Lines())
	n, left, err := s.Forget(t.Context(), []ID{w.photos[0].ID})
	if n != 0 || err != nil || !strings.Contains(left[0], "does not keep its embeddings") ||
		len(s.journal.Lines()) != before {
		t.Errorf("forgot %d, left %q, %v, %d lines", n, left, err, len(s.journal.Lines())-before)
	}
}
