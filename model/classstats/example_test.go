package classstats_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// Two machines saw a photo each, and one that both saw counts once.
func Example() {
	see := func(s *classstats.Stats, class, photo string, embedding ...float32) {
		id := classstats.SampleID{Content: sha256.Sum256([]byte(photo)), Class: class}
		if _, err := s.Add(id, embedding); err != nil {
			fmt.Println(err)
		}
	}
	here, there := classstats.New(2, false), classstats.New(2, false)
	see(here, "cat", "first", 1, 0)
	see(here, "cat", "both", 3, 0)
	see(there, "cat", "both", 3, 0)
	see(there, "dog", "second", 0, 1)
	shared, err := here.Merge(there)
	fmt.Println(here.Classes(), here.SampleCount(), "photos,", shared, "on both,", err)
	// Output: [cat dog] 3 photos, 1 on both, <nil>
}
