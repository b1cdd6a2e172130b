package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
)

// A sum that takes a day goes on where it was stopped, unless its settings have changed.
func Example() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	folder := &checkpoint.Folder{Dir: filepath.Join(dir, "checkpoint")}

	key, _ := checkpoint.Key("settings", 1)
	part := checkpoint.Part[int]{Folder: folder, Name: "sum", Key: key}
	fmt.Println("nothing yet:", part.Load() == nil)
	if err := part.Save(41); err != nil {
		fmt.Println(err)
	}
	fmt.Println("so far:", *part.Load())

	part.Key, _ = checkpoint.Key("settings", 2)
	fmt.Println("other settings:", part.Load() == nil)
	fmt.Println(folder.Close()) // the sum is written elsewhere by now
	// Output:
	// nothing yet: true
	// so far: 41
	// other settings: true
	// <nil>
}
