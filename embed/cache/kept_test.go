package cache

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testenv"
)

// TestKeptFiles: caches of every earlier version are still used.
func TestKeptFiles(t *testing.T) {
	ns := Namespace{Extractor: "e", Preprocess: "p"}
	image, state := HashOf([]byte("image")), FileState{Size: 5, MtimeNs: 1, Inode: 2}
	row := []float32{1, -0.5, 0.25}
	testenv.Kept(t, func(dir string) {
		c, err := Open(dir, ns, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{c.Put(image, row), c.Record("/photos/1.jpg", state, image), c.Close()} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}, func(version, dir string) {
		c, err := Open(dir, ns, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, found := c.Get(image); !found || !slices.Equal(got, row) {
			t.Errorf("%s: %v, %t", version, got, found)
		}
		if got, found := c.Lookup("/photos/1.jpg", state); !found || got != image {
			t.Errorf("%s: %s, %t", version, got, found)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
