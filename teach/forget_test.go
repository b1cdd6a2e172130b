package teach

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
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
	must.Do(t, os.MkdirAll(filepath.Join(obstacle, "mine"), 0o755))
	gone := []ID{w.photos[0].ID}
	if _, _, err := s.Forget(t.Context(), gone); err == nil {
		t.Fatal("the previous version cannot be removed, and that is no error")
	}
	if n := s.Status().Account.Decided.Person; n != 19 {
		t.Errorf("%d labels", n)
	}
	must.Do(t, os.RemoveAll(obstacle))
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
	before := len(s.journal.lines)
	n, left, err := s.Forget(t.Context(), []ID{w.photos[0].ID})
	if n != 0 || err != nil || !strings.Contains(left[0], "does not keep its embeddings") ||
		len(s.journal.lines) != before {
		t.Errorf("forgot %d, left %q, %v, %d lines", n, left, err, len(s.journal.lines)-before)
	}
}

// Forget leaves no trace of a photo in the journal, and the model is that of a session
// that never saw it.
func TestForget(t *testing.T) {
	w := newWorld(3, 20)
	dir, other := t.TempDir(), t.TempDir()
	s, never := w.openAt(t, dir, "plda"), w.openAt(t, other, "plda")
	w.name(t, s, upTo(0, 20)...)
	w.name(t, never, upTo(1, 20)...)
	gone := w.photos[0].ID
	if n, left, err := s.Forget(t.Context(), []ID{gone, {77}}); n != 1 || len(left) == 0 || err != nil {
		t.Errorf("forgot %d, left %v, %v", n, left, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "m.model"+journalSuffix))
	if err != nil || bytes.Contains(text, []byte(gone.String())) {
		t.Errorf("the journal names the photo, %v", err)
	}
	if !bytes.Equal(save(t, s), save(t, never)) {
		t.Error("the model is another than one that never saw the photo")
	}
	w.name(t, s, 25)
	must.Do(t, s.Close())
	again := w.openAt(t, dir, "plda")
	if n := again.Status().Account.Decided.Person; n != 20 {
		t.Errorf("%d labels after reading the journal again, want 20", n)
	}
}

// What the base model learned is forgotten there too, if it keeps its embeddings, and
// the session can be opened when it was killed before the base was replaced.
func TestForgetsWhatTheBaseLearned(t *testing.T) {
	w := newWorld(3, 20)
	for i, p := range w.photos {
		w.photos[i].Class = w.truth[p.ID]
	}
	dir, other := t.TempDir(), t.TempDir()
	w.trainAt(t, dir, upTo(0, 24)...)
	w.trainAt(t, other, upTo(1, 24)...)
	s, never := w.openAt(t, dir, "plda"), w.openAt(t, other, "plda")
	for _, s := range []*Session{s, never} {
		w.name(t, s, 30, 31)
		save(t, s)
	}
	if n, _, err := s.Forget(t.Context(), []ID{w.photos[0].ID}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, suffix := range []string{"", baseSuffix} {
		got, err := os.ReadFile(filepath.Join(dir, "m.model"+suffix))
		want, wanted := os.ReadFile(filepath.Join(other, "m.model"+suffix))
		if err = errors.Join(err, wanted); err != nil || !bytes.Equal(got, want) {
			t.Errorf("m.model%s is not that of a session that never saw the photo, %v", suffix, err)
		}
	}
	if _, err := os.Stat(s.options.Model + ".prev"); err == nil {
		t.Error("the version before is still there")
	}
	must.Do(t, s.journal.rebase(s.base.model.SHA256(), "of the next base"))
	must.Do(t, s.Close())
	w.openAt(t, dir, "plda").Wait()
}
