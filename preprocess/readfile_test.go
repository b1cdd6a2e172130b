//go:build unix

package preprocess

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

// TestReadFile: what is not a regular file is refused at once, also behind a link.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	photo, pipe, device := filepath.Join(dir, "a.jpg"), filepath.Join(dir, "pipe.jpg"), filepath.Join(dir, "device.jpg")
	err := os.WriteFile(photo, []byte("photo"), 0o600)
	must.Do(t, errors.Join(err, syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", device)))
	b := DefaultBudget()
	for path, want := range map[string]error{
		photo: nil, pipe: regularfile.ErrNotRegular, device: regularfile.ErrNotRegular, dir: regularfile.ErrNotRegular,
		filepath.Join(dir, "gone.jpg"): fs.ErrNotExist,
	} {
		got := ""
		err := b.ReadFile(t.Context(), path, func(file []byte) error { got = string(file); return nil })
		if !errors.Is(err, want) || (got == "photo") != (want == nil) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if release, err := b.File(t.Context(), b.files.size); err != nil { // all of it, so nothing was lost
		t.Error(err)
	} else {
		release()
	}
	small := must.Get(NewBudget(leastMemory))(t)
	must.Do(t, os.Truncate(photo, leastMemory+1))
	if err := small.ReadFile(t.Context(), photo, func([]byte) error { return nil }); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
}
