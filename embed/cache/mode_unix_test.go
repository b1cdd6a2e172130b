//go:build unix

package cache

import (
	"io/fs"
	"path/filepath"
	"testing"
)

// TestCacheIsPrivate: others of the machine read neither embeddings nor paths.
func TestCacheIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := Open(dir, Namespace{Extractor: "e", Preprocess: "p"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := HashOf([]byte("photo"))
	if err := c.Store.Put(h, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := c.Record("/photo", FileState{Size: 5}, h); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		seen[filepath.Ext(path)] = true
		if filepath.Base(path) != "meta.json" && err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return err
	})
	for _, ext := range []string{".vec", ".key", ".idx", ".lock"} {
		if !seen[ext] {
			t.Errorf("there is no file %s: %v", ext, seen)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
