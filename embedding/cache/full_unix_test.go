//go:build unix

package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestFullDisk: wherever the disk is full, that is an error with advice, what was written
// before is there, and with room again the rest can be stored.
func TestFullDisk(t *testing.T) {
	if !testenv.Alone(t) {
		return
	}
	large := make([]float32, 4*groupBytes/4/10) // ten of them are more than four groups
	sizes := []uint64{0, 1, pageBytes, 3 * pageBytes, 5 * pageBytes, 8 * pageBytes, groupBytes, 2 * groupBytes}
	for _, size := range sizes {
		dir := t.TempDir()
		fill(t, dir, 0, 3)
		c := mustOpen(t, dir, nil)
		end := testenv.FullDisk(t, size)
		var err error
		for i := 0; i < 10 && err == nil; i++ {
			err = c.Put(key(1000+i), large)
		}
		err = errors.Join(err, c.Flush())
		end()
		if !because(err, syscall.EFBIG) || !strings.Contains(err.Error(), dir) {
			t.Fatalf("%d bytes: %v", size, err)
		}
		wantAll(t, "full", mustOpen(t, dir, nil), 3)
		put(t, c, 3, 6)
		mustClose(t, c)
		wantAll(t, "with room again", mustOpen(t, dir, nil), 6)
	}
	for _, full := range []error{syscall.ENOSPC, fmt.Errorf("file sync error: %s", syscall.EDQUOT)} {
		err := writeError("dir", full)
		if !errors.Is(err, full) || !strings.Contains(err.Error(), "another folder for the cache") {
			t.Error(err)
		}
	}
}

// Nobody can create a folder in /sys, not even root.
func TestUnwritableCacheIsNotFatal(t *testing.T) {
	if _, err := os.Stat("/sys/kernel"); err != nil {
		t.Skip("no /sys here")
	}
	var text bytes.Buffer
	c := mustOpen(t, "/sys/pipeline-test", slog.New(slog.NewTextHandler(&text, nil)))
	for i := range 3 {
		put(t, c, i, i+1)
		must.Do(t, c.Flush())
	}
	if n := strings.Count(text.String(), "continuing read-only"); n != 1 {
		t.Errorf("logged %d times, want once: %s", n, &text)
	}
}

func TestUnwritableErrors(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EROFS: true, syscall.EACCES: true, syscall.EPERM: true, syscall.ENOLCK: true,
		syscall.ENOSPC: false, syscall.EIO: false, syscall.EDQUOT: false,
	} {
		if got := unwritable(&os.PathError{Err: err}); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestCacheIsPrivate: others of the machine read neither embeddings nor paths.
func TestCacheIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	fill(t, dir, 0, 3)
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		if e.Type().IsRegular() {
			files++
		}
		return err
	})
	if err != nil || files != 1 {
		t.Error(files, err)
	}
}
