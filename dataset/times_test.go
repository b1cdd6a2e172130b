package dataset_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestListOfTimes: a column of times is read, and never taken for the classes.
func TestListOfTimes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"fox/a.jpg", "owl/b.jpg"} {
		writeFile(t, filepath.Join(root, name), []byte("photo"))
	}
	for _, header := range []string{"path,DateTime", "path,timestamp"} {
		file := filepath.Join(root, "list.csv")
		writeFile(t, file, []byte(header+"\nfox/a.jpg,2025-06-14 10:11:12\nowl/b.jpg,\nfox/a.jpg,later\n"))
		l := must.Get(dataset.ReadList(file, root, dataset.ListOptions{}))(t)
		want := []dataset.Sample{{Path: "fox/a.jpg", Label: "fox", Taken: "2025-06-14 10:11:12"},
			{Path: "owl/b.jpg", Label: "owl"}}
		if !slices.Equal(l.Samples, want) || l.Skipped["repeated"] != 1 {
			t.Errorf("%s: %+v, skipped %v", header, l.Samples, l.Skipped)
		}
	}
}
