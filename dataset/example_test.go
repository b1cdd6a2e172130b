package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// A folder of class folders: its photos, their classes, and what was passed over.
func Example() {
	root, err := os.MkdirTemp("", "photos")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	for _, name := range []string{"cat/1.jpg", "dog/2.png", "dog/clip.mp4"} {
		os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755)
		os.WriteFile(filepath.Join(root, name), nil, 0o644)
	}
	listing, err := dataset.Scan(context.Background(), root, dataset.ScanOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range listing.Samples {
		fmt.Println(s.Path, "is a", s.Label)
	}
	fmt.Println(listing.Skipped)
	// Output:
	// cat/1.jpg is a cat
	// dog/2.png is a dog
	// map[video:1]
}
