package dataset_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// TestListOfBoxes: a list may name boxes, whose labels rule, and whole photos; what it names
// and the file of boxes does not have is a problem.
func TestListOfBoxes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"fox/a.jpg", "fox/a.jpg#b.jpg", "owl/c#1.jpg"} {
		writeFile(t, filepath.Join(root, name), []byte("photo"))
	}
	boxes := filepath.Join(root, "boxes.json")
	const box = `{"category": "1", "conf": 0.9, "bbox": [0, 0, 0.5, 0.5]}`
	writeFile(t, boxes, []byte(`{"images": [{"file": "fox/a.jpg", "detections": [`+box+`, `+box+`,
		{"category": "2", "conf": 0.9, "bbox": [0, 0, 0.5, 0.5]}, {"category": "1", "conf": 0.9, "bbox": [0, 0, 0, 1]}]},
		{"file": "owl/c#1.jpg", "detections": [`+box+`]}]}`))
	list := filepath.Join(root, "labels.csv")
	writeFile(t, list, []byte("path,label\nfox/a.jpg#2,hare\nfox/a.jpg#3,ranger\nfox/a.jpg#1,\nfox/a.jpg#4,fox\n"+
		"fox/a.jpg#9,fox\nowl/c#1.jpg,owl\nfox/a.jpg#02,fox\n"))
	l, err := dataset.ReadList(list, root, dataset.ListOptions{Boxes: true})
	if err != nil {
		t.Fatal(err)
	}
	read, err := dataset.ReadBoxes(boxes, root, dataset.BoxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	source, found, err := l.Source().Boxed(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for s := range source.Samples(t.Context()) {
		got = append(got, s.Path+" "+s.Label)
	}
	outcome, err := source.Outcome()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range outcome.Problems {
		got = append(got, "problem "+p.Path)
	}
	wantLines(t, got, []string{"fox/a.jpg#1 ", "fox/a.jpg#2 hare", "fox/a.jpg#3 ranger", "owl/c#1.jpg#1 owl",
		"problem fox/a.jpg#02", "problem fox/a.jpg#4", "problem fox/a.jpg#9"})
	if fmt.Sprint(found.Photos) != "[{fox/a.jpg 3 } {owl/c#1.jpg 1 }]" || source.Len() != 4 {
		t.Errorf("found %+v, %d items", found, source.Len())
	}
	if _, err := dataset.ReadList(list, root, dataset.ListOptions{}); err != nil {
		t.Fatal(err) // the whole photo is there, the boxes are problems
	}
}
