package organise_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/organise"
)

// A tree is a sink of a label.Job; here it gets one row by hand.
func Example() {
	dir, err := os.MkdirTemp("", "photos")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "1.jpg"), []byte("a photo"), 0o644); err != nil {
		panic(err)
	}
	tree, err := organise.NewTree(organise.Copies, dir, filepath.Join(dir, "by-class"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tree.Abort()
	row := label.Scored{Sample: dataset.Sample{Path: "1.jpg"}, Prediction: classifier.Prediction{Label: "fox"}}
	if err := tree.Put(row); err != nil {
		fmt.Println(err)
		return
	}
	if err := tree.Commit(embedding.Outcome{}); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, "by-class", "fox", "1.jpg"))
	fmt.Println(string(text), err)
	// Output: a photo <nil>
}
