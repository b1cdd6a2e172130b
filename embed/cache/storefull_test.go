//go:build linux

package cache

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// /dev/full answers every write with "no space left on device".
func TestFullDiskIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "000001.vec")); err != nil {
		t.Skip(err)
	}
	s := mustStore(t, dir)
	err := s.Put(key(0), row(0))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "--cache") {
		t.Fatalf("%v", err)
	}
	if s.Len() != 0 {
		t.Fatal("a row that was not written is known")
	}
}

// Nobody can create a folder in /sys, not even root.
func TestUnwritableCacheIsNotFatal(t *testing.T) {
	if _, err := os.Stat("/sys/kernel"); err != nil {
		t.Skip("no /sys here")
	}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	s, err := OpenStore("/sys/pipeline-test/cache", log)
	if err != nil {
		t.Fatal(err)
	}
	x, err := openIndex("/sys/pipeline-test/paths", log)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		err := errors.Join(s.Put(key(i), row(i)), x.record("/a", FileState{Size: int64(i), MtimeNs: 1}, key(i)))
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(text.String(), "continuing read-only"); n != 2 {
		t.Errorf("logged %d times, want once each: %s", n, &text)
	}
}

func TestUnwritableErrors(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, syscall.EROFS: true, syscall.EACCES: true, syscall.EPERM: true, syscall.ENOLCK: true,
		syscall.ENOSPC: false, syscall.EIO: false, syscall.EDQUOT: false,
	} {
		if got := unwritable(&os.PathError{Err: err}); got != want && err != nil {
			t.Errorf("%v: %v", err, got)
		}
	}
}
