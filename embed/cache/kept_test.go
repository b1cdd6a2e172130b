package cache

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var kept = flag.String("keep", "", "write the files of this `version` into testdata, for later versions to read")

const keptFiles = "testdata/kept"

// TestKeptFiles: caches of every earlier version are still used.
func TestKeptFiles(t *testing.T) {
	ns := Namespace{Extractor: "e", Preprocess: "p"}
	image, state := HashOf([]byte("image")), FileState{Size: 5, MtimeNs: 1, Inode: 2}
	row := []float32{1, -0.5, 0.25}
	if *kept != "" {
		c, err := Open(filepath.Join(keptFiles, *kept), ns, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{c.Put(image, row), c.Record("/photos/1.jpg", state, image), c.Close()} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	versions, err := os.ReadDir(keptFiles)
	if err != nil || len(versions) == 0 {
		t.Fatalf("no kept files: %v", err)
	}
	for _, version := range versions {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(keptFiles, version.Name()))); err != nil {
			t.Fatal(err)
		}
		c, err := Open(dir, ns, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, found := c.Get(image); !found || !slices.Equal(got, row) {
			t.Errorf("%s: %v, %t", version.Name(), got, found)
		}
		if got, found := c.Lookup("/photos/1.jpg", state); !found || got != image {
			t.Errorf("%s: %s, %t", version.Name(), got, found)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
