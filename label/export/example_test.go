package export_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/export"
)

// The sinks of a label.Job write the formats beside its own; here they get one row by hand.
func Example() {
	dir, err := os.MkdirTemp("", "labels")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	sinks, err := export.Sinks([]string{"coco"}, export.Options{
		Root: "photos", Dir: dir, Classes: []string{"cat", "dog"}, Model: "pets.model",
		Size: func(string) (width, height int, err error) { return 640, 480, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sink := range sinks {
		defer sink.Abort()
		row := label.Scored{Sample: dataset.Sample{Path: "1.jpg"},
			Prediction: classifier.Prediction{Label: "dog", Probability: 0.9}}
		if err := sink.Put(row); err != nil {
			fmt.Println(err)
			return
		}
		if err := sink.Commit(embedding.Outcome{}); err != nil {
			fmt.Println(err)
			return
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "coco", "instances.json"))
	fmt.Println(strings.Contains(string(text), `"file_name":"1.jpg"`), err)
	// Output: true <nil>
}
