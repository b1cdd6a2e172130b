package featdir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
)

func Example() {
	parent, err := os.MkdirTemp("", "features")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)
	path := filepath.Join(parent, "FEATDIR")
	w, err := featdir.NewWriter(path, embedding.Provenance{ToolVersion: "1.0", Dim: 2})
	if err != nil {
		panic(err)
	}
	defer w.Abort()
	err = errors.Join(
		w.Write(dataset.Sample{Path: "cat/1.jpg", Label: "cat"}, []float32{1, 0}),
		w.Write(dataset.Sample{Path: "dog/2.jpg", Label: "dog"}, []float32{0, 1}),
		w.Close())
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := featdir.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.X.Rows, "rows of", f.X.Cols, "values; the second is a", f.Samples[1].Label)
	// Output: 2 rows of 2 values; the second is a dog
}
