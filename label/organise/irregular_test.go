//go:build unix

package organise

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// TestPhotosThatBecomePipes, or links to devices, are not copied: that would wait for
// ever, or fill the disk.
func TestPhotosThatBecomePipes(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	must.Do(t, errors.Join(syscall.Mkfifo(filepath.Join(root, "pipe.jpg"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(root, "device.jpg"))))
	tree := must.Get(NewTree(Copies, root, dir))(t)
	defer tree.Abort()
	for _, name := range []string{"pipe.jpg", "device.jpg"} {
		var item *label.ItemError
		if err := tree.Put(labelled(name, "cat", false)); !errors.As(err, &item) ||
			!errors.Is(err, regularfile.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(tree.dir.Path(), "cat", name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s has a copy (%v)", name, err)
		}
	}
}
