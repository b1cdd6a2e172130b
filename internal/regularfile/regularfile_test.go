//go:build unix

package regularfile

import (
	"errors"
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
	if _, err := Read(file+"2", 2); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
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
	}
}
