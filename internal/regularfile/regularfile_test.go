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
)

func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
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
		f, err := Edit(file, 0o600)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, "/dev/zero"} {
		if _, err := Read(path, 1<<20); !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := Edit(path, 0o600); err == nil || path == pipe && !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
