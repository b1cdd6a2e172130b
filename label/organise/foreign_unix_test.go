//go:build unix

package organise

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestForeignFoldersStay with their modes, also empty ones, and so do names that are
// not files.
func TestForeignFoldersStay(t *testing.T) {
	root, tree := t.TempDir(), filepath.Join(t.TempDir(), "by-class")
	write(t, filepath.Join(root, "a.jpg"), "a")
	build(t, Links, root, tree, labelled("a.jpg", "cat", false))
	for dir, mode := range map[string]fs.FileMode{
		"": 0o750, "cat": 0o711, "cat/later": 0o700, "private/empty": 0o700, "dog": 0o710,
	} {
		must.Do(t, os.MkdirAll(filepath.Join(tree, dir), 0o755))
		must.Do(t, os.Chmod(filepath.Join(tree, dir), mode))
	}
	write(t, filepath.Join(tree, "bird"), "a file with the name of a class")
	write(t, filepath.Join(tree, "eel/a.jpg/mine.txt"), "a folder with the name of a photo")
	must.Do(t, syscall.Mkfifo(filepath.Join(tree, "cat/pipe"), 0o644))
	for _, class := range []string{"dog", "bird", "eel"} {
		build(t, Links, root, tree, labelled("a.jpg", class, false))
	}
	want := map[string]string{
		".": "drwxr-x---", "cat": "drwx--x--x", "cat/later": "drwx------", "cat/pipe": "prw-r--r--",
		"private": "drwxr-xr-x", "private/empty": "drwx------", "bird.kept-2": "-rw-r--r--",
		"eel": "drwxr-xr-x", "eel/a.jpg": "Lrwxrwxrwx",
		"eel/a.jpg.kept-2": "drwxr-xr-x", "eel/a.jpg.kept-2/mine.txt": "-rw-r--r--",
	}
	err := filepath.WalkDir(tree, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		place, _ := filepath.Rel(tree, name)
		if err == nil && want[place] != info.Mode().String() {
			t.Errorf("%s is %v, want %s", place, info.Mode(), want[place])
		}
		delete(want, place)
		return err
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%v; missing: %v", err, want)
	}
}
