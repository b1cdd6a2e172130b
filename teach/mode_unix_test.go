//go:build unix

package teach

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// The journal, which has embeddings of photos, stays private when photos are forgotten,
// and so does a private model that is saved again.
func TestPrivateFilesStayPrivate(t *testing.T) {
	w := newWorld(3, 20)
	dir := t.TempDir()
	s := w.openAt(t, dir, "plda")
	w.name(t, s, upTo(0, 20)...)
	save(t, s)
	const private fs.FileMode = 0o600
	if err := os.Chmod(filepath.Join(dir, "m.model"), private); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Forget(t.Context(), []ID{w.photos[0].ID}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m.model", "m.model" + journalSuffix} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != private {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestBaseOfPrivateModelIsPrivate: what a journal of a private model starts from is as
// private.
func TestBaseOfPrivateModelIsPrivate(t *testing.T) {
	w := newWorld(3, 20)
	dir := t.TempDir()
	first := w.openAt(t, dir, "plda")
	w.name(t, first, upTo(0, 20)...)
	save(t, first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "m.model")
	for _, suffix := range []string{journalSuffix, baseSuffix} {
		if err := os.Remove(file + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	w.openAt(t, dir, "plda")
	info, err := os.Stat(file + baseSuffix)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestOddLock: a lock that is a pipe, on which opening would wait for ever, is an error.
func TestOddLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.model")
	if err := syscall.Mkfifo(file+journalSuffix+lockSuffix, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openJournal(file + journalSuffix); !errors.Is(err, regularfile.ErrNotRegular) {
		t.Errorf("it is opened: %v", err)
	}
	if err := Free(file); !errors.Is(err, regularfile.ErrNotRegular) {
		t.Errorf("it is looked at: %v", err)
	}
}
