package dataset_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
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
	l := must.Get(dataset.ReadList(list, root, dataset.ListOptions{Boxes: true}))(t)
	read := must.Get(dataset.ReadBoxes(boxes, root, dataset.BoxOptions{}))(t)
	source, found := must.Get2(l.Source().Boxed(t.Context(), read))(t)
	var got []string
	for s := range source.Samples(t.Context()) {
		got = append(got, s.Path+" "+s.Label)
	}
	outcome := must.Get(source.Outcome())(t)
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

// TestListOfRectangles: rectangles of Label Studio are the boxes that their ids name; one that
// somebody drew there is a problem, never its whole photo, and so are all without the boxes.
func TestListOfRectangles(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "fox/a b.jpg"), []byte("photo"))
	list := filepath.Join(root, "tasks.json")
	rectangle := func(id, label string) string {
		return fmt.Sprintf(`{"id": %q, "value": {"x": 1, "rectanglelabels": [%q]}}`, id, label)
	}
	for _, image := range []string{"/data/local-files/?d=fox/a+b.jpg", "fox/a b.jpg",
		"/data/upload/1/0a1b2c3d-fox/a b.jpg"} {
		const task = `[{"data": {"image": %q}, "annotations": [{"result": [%s, %s, %s]}]}]`
		writeFile(t, list, fmt.Appendf(nil, task, image, rectangle("box-1", "fox"), rectangle("box-3", "hare"),
			rectangle("Xy12", "owl")))
		l := must.Get(dataset.ReadList(list, root, dataset.ListOptions{Boxes: true}))(t)
		var got []string
		for _, s := range l.Samples {
			got = append(got, s.Path+" "+s.Label)
		}
		wantLines(t, got, []string{"fox/a b.jpg#1 fox", "fox/a b.jpg#3 hare"})
		if len(l.Problems) != 1 {
			t.Errorf("%s: problems %v", image, l.Problems)
		}
		if l, err := dataset.ReadList(list, root, dataset.ListOptions{}); err == nil || len(l.Samples) > 0 {
			t.Errorf("%s: without boxes %v, %v", image, l.Samples, err)
		}
	}
}
