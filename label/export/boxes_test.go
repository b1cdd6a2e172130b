package export_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/export"
)

// TestBoxes are annotations of one image in COCO, in pixels of the upright photo.
func TestBoxes(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a.jpg")
	box := func(n int, x, y, w, h float64, class string) label.Scored {
		r := row("a.jpg", class)
		r.Sample = (&dataset.Box{Number: n, X: x, Y: y, W: w, H: h}).In(r.Sample)
		return r
	}
	rows := []label.Scored{box(1, 0, 0, 1, 1, "cat"), box(2, 0.25, 0.1, 0.5, 1./3, "dog"), box(3, 0, 0, 1, 1, "cat")}
	rows[2].Rejected = true
	write(t, root, "empty.jpg")
	o := options(root, dir)
	o.Empty = []dataset.BoxedPhoto{{Path: "empty.jpg"}}
	rows[1].By = label.Detector
	rows[1].Prediction.Label = "person"
	run(t, o, []string{"coco", "camtrap-dp"}, rows...)
	observed := table(t, filepath.Join(dir, "camtrap-dp/observations.csv"))
	if len(observed) != 4 || len(table(t, filepath.Join(dir, "camtrap-dp/media.csv"))) != 2 {
		t.Errorf("%v", observed)
	}
	if o := observed[1]; o["observationID"] != "a.jpg#2" || o["bboxX"] != "0.25" || o["observationType"] != "human" ||
		o["classificationMethod"] != "machine" || o["classifiedBy"] != "detector" {
		t.Errorf("a box: %v", o)
	}
	if o := observed[3]; o["mediaID"] != "empty.jpg" || o["observationType"] != "blank" {
		t.Errorf("a photo without boxes: %v", o)
	}
	var got struct {
		Images      []struct{ Width, Height int }
		Annotations []struct {
			Box  []float64 `json:"bbox"`
			Area float64
		}
	}
	object(t, filepath.Join(dir, lists["coco"]), &got)
	if len(got.Images) != 2 || got.Images[0].Width != 200 || len(got.Annotations) != 2 {
		t.Fatalf("%+v", got)
	}
	if b := got.Annotations[1]; !slices.Equal(b.Box, []float64{50, 10, 100, 33.33}) || b.Area != 3333 {
		t.Errorf("%+v", b)
	}
}

// TestPicturesOfBoxes are in the folders of their classes, with the time of their photo, and
// are made again by the next run, but for one that a person edited.
func TestPicturesOfBoxes(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a.jpg", "cat/b.jpg")
	box := func(photo string, n int, class string) label.Scored {
		r := row(photo, class)
		r.Sample = (&dataset.Box{Number: n, X: 0.1, Y: 0.2, W: 0.3, H: 0.4}).In(r.Sample)
		return r
	}
	rows := []label.Scored{box("a.jpg", 1, "cat"), box("a.jpg", 2, "dog"), box("a.jpg", 3, "cat"),
		box("cat/b.jpg", 10, "cat")}
	rows[2].Rejected = true
	o := options(root, dir)
	version := 1
	o.Crop = func(file string, b *dataset.Box) ([]byte, error) {
		return []byte(fmt.Sprint(filepath.Base(file), b.Number, " of run ", version)), nil
	}
	run(t, o, []string{"imagefolder"}, rows...)
	got := tree(t, filepath.Join(dir, "imagefolder"))
	if len(got) != 5 || got["cat/a.jpg.1.jpg"] != "a.jpg1 of run 1" || got["dog/a.jpg.2.jpg"] != "a.jpg2 of run 1" ||
		got["cat/b.jpg.10.jpg"] != "b.jpg10 of run 1" {
		t.Errorf("%q", got)
	}
	if text := got["metadata.jsonl"]; !strings.Contains(text, `"of":"cat/b.jpg","box":"0.1,0.2,0.3,0.4"`) {
		t.Errorf("metadata.jsonl has %s", text)
	}
	edited := filepath.Join(dir, "imagefolder/cat/b.jpg.10.jpg")
	must.Do(t, errors.Join(os.WriteFile(edited, []byte("edited"), 0o644),
		os.Chtimes(edited, time.Unix(1, 0), time.Unix(1, 0)),
		os.WriteFile(filepath.Join(dir, "summary.json"), []byte("{}"), 0o644)))
	version = 2
	rows[0].Prediction.Label = "dog"
	run(t, o, []string{"imagefolder"}, rows...)
	got = tree(t, filepath.Join(dir, "imagefolder"))
	if len(got) != 6 || got["dog/a.jpg.1.jpg"] != "a.jpg1 of run 2" || got["cat/b.jpg.10.jpg.kept-2"] != "edited" {
		t.Errorf("after another run %q", got)
	}
	failing := errors.New("too large")
	o.Crop = func(string, *dataset.Box) ([]byte, error) { return nil, failing }
	sinks := must.Get(export.Sinks([]string{"imagefolder"}, o))(t)
	defer sinks[0].Abort()
	if item := (*label.ItemError)(nil); !errors.As(sinks[0].Put(rows[0]), &item) || !errors.Is(item, failing) {
		t.Error("a box that cannot be cut out is no problem of it alone")
	}
}

// TestRectangles: the boxes of a photo are one task of Label Studio; decided ones are
// annotated, the others predicted, and a photo without any can be looked at.
func TestRectangles(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "a.jpg", "b.jpg", "empty.jpg")
	box := func(photo string, n int, class string, by label.By) label.Scored {
		r := row(photo, class)
		r.Sample, r.By = (&dataset.Box{Number: n, X: 0.25, Y: 0.5, W: 0.5, H: 0.25}).In(r.Sample), by
		return r
	}
	rows := []label.Scored{box("a.jpg", 1, "cat", ""), box("a.jpg", 2, "lynx", label.Person),
		box("a.jpg", 4, "", label.Person), box("b.jpg", 1, "", label.Person)}
	rows[0].Prediction.TopK[0].Probability = 0.5
	o := options(root, dir)
	o.Empty = []dataset.BoxedPhoto{{Path: "empty.jpg"}}
	run(t, o, []string{"label-studio"}, rows...)
	var tasks []struct {
		ID          int
		Data        struct{ Image string }
		Annotations []struct {
			Result    []map[string]any
			Cancelled bool `json:"was_cancelled"`
		}
		Predictions []struct {
			Score  float64
			Result []map[string]any
		}
	}
	object(t, filepath.Join(dir, lists["label-studio"]), &tasks)
	if len(tasks) != 3 || tasks[2].ID != 3 || tasks[2].Data.Image != "/data/local-files/?d=empty.jpg" ||
		len(tasks[2].Annotations)+len(tasks[2].Predictions) != 0 {
		t.Fatalf("%+v", tasks)
	}
	a, b := tasks[0], tasks[1]
	if len(a.Annotations) != 1 || len(a.Annotations[0].Result) != 1 || len(a.Predictions) != 1 ||
		len(a.Predictions[0].Result) != 3 || a.Predictions[0].Score != 0.5 || !b.Annotations[0].Cancelled {
		t.Errorf("%+v, %+v", a, b)
	}
	want := map[string]any{"x": 25., "y": 50., "width": 50., "height": 25., "rotation": 0.,
		"rectanglelabels": []any{"lynx"}}
	if got := a.Annotations[0].Result[0]; got["id"] != "box-2" || got["type"] != "rectanglelabels" ||
		got["original_width"] != 200. || !reflect.DeepEqual(got["value"], want) {
		t.Errorf("%v", got)
	}
	config := tree(t, filepath.Join(dir, "label-studio"))["config.xml"]
	if !strings.Contains(config, "<RectangleLabels") || !strings.Contains(config, `<Label value="lynx"/>`) {
		t.Errorf("%s", config)
	}
}
