package demo_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/demo"
)

// Not run as a test: it draws 540 pictures.
func ExampleGenerate() {
	set, err := demo.Generate(context.Background(), filepath.Join(os.TempDir(), "pictures"), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(set.Shown), "photos in", set.Photos)
}
