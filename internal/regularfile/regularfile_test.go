//go:build unix

package regularfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, []byte("abc"), 0o644))
	if data, err := Read(file, 3); string(data) != "abc" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Read(file, 2); err == nil || !strings.Contains(err.Error(), file+": 3 bytes") {
		t.Error(err)
	}
	for n, want := range map[int64]string{0: "", 2: "ab", 9: "abc"} {
		if data, err := ReadHead(file, n); string(data) != want || err != nil {
			t.Errorf("%d: %q, %v", n, data, err)
		}
	}
	if _, err := Read(file+"2", 2); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestEdit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{"", "abc"} {
		f := must.Get(Edit(file, 0o600))(t)
		info, err := f.Stat()
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if data, err := io.ReadAll(f); string(data) != want || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
			t.Error(err)
		}
		f.Close()
	}
}

// TestOthersAreRefused: at once, also a pipe that nobody writes to.
func TestOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o644))
	for _, path := range []string{pipe, dir, "/dev/zero"} {
		if _, err := Read(path, 1<<20); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := Edit(path, 0o600); err == nil || path == pipe && !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOwnFiles: what the program opens by a name of its own is a file, and no way to another one.
func TestOwnFiles(t *testing.T) {
	dir := t.TempDir()
	theirs, link, gone := filepath.Join(dir, "theirs"), filepath.Join(dir, "link"), filepath.Join(dir, "gone")
	must.Do(t, errors.Join(os.WriteFile(theirs, []byte("abc"), 0o600), os.Symlink(theirs, link),
		os.Symlink(filepath.Join(dir, "nothing"), gone)))
	for _, path := range []string{link, gone} {
		if f, err := EditOwn(path, 0o600); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is opened: %v, %v", path, f, err)
		}
	}
	if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made at the end of a link: %v", err)
	}
	for _, path := range []string{theirs, filepath.Join(dir, "new")} {
		f := must.Get(EditOwn(path, 0o600))(t)
		f.Close()
	}
}

// TestLockOfAPipe is refused at once, where opening it waits for its other end.
func TestLockOfAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o644))
	for _, path := range []string{pipe, dir} {
		if _, err := Lock(path); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	one := must.Get(Lock(filepath.Join(dir, "lock")))(t)
	if held, err := one.TryLock(); !held || err != nil {
		t.Fatal(held, err)
	}
	other := must.Get(Lock(one.Path()))(t)
	if held, err := other.TryLock(); held || err != nil {
		t.Errorf("a lock is held twice: %t, %v", held, err)
	}
	if err := one.Unlock(); err != nil {
		t.Error(err)
	}
}
