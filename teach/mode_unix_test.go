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
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
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
	must.Do(t, os.Chmod(filepath.Join(dir, "m.model"), private))
	must.Get2(s.Forget(t.Context(), []ID{w.photos[0].ID}))(t)
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
	must.Do(t, first.Close())
	file := filepath.Join(dir, "m.model")
	for _, suffix := range []string{journalSuffix, baseSuffix} {
		must.Do(t, os.Remove(file+suffix))
	}
	must.Do(t, os.Chmod(file, 0o600))
	w.openAt(t, dir, "plda")
	info, err := os.Stat(file + baseSuffix)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestOddLock: a lock that is a pipe, on which opening would wait for ever, is an error.
func TestOddLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.model")
	must.Do(t, syscall.Mkfifo(file+journalSuffix+lockSuffix, 0o600))
	if _, err := openJournal(file + journalSuffix); !errors.Is(err, regularfile.ErrNotRegular) {
		t.Errorf("it is opened: %v", err)
	}
	if err := Free(file); !errors.Is(err, regularfile.ErrNotRegular) {
		t.Errorf("it is looked at: %v", err)
	}
}
