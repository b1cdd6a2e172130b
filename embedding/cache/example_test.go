package cache_test

import (
	"fmt"
	"os"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
)

// Embeddings are found by the content of a file, whatever its name, until the network or the
// preprocessing changes.
func Example() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	photo := cache.HashOf([]byte("the bytes of a photo"))
	for _, network := range []string{"one", "one", "another"} {
		c, err := cache.Open(dir, cache.Namespace{Extractor: network, Preprocess: "224 pixels"}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		row, found := c.Get(photo)
		fmt.Println(found, row)
		if !found {
			err = c.Put(photo, []float32{0.5, 0.25})
		}
		if closed := c.Close(); err != nil || closed != nil {
			fmt.Println(err, closed)
		}
	}
	// Output:
	// false []
	// true [0.5 0.25]
	// false []
}
