package labels

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// A detection is a box as MegaDetector writes it.
type detection struct {
	Category string     `json:"category"`
	Conf     float64    `json:"conf"`
	BBox     [4]float64 `json:"bbox"`
}

// sideBySide writes a picture of several classes, each in a square of its own, and
// returns their boxes.
func sideBySide(l *commandtest.Bed, file string, number int, classes ...string) (found []detection) {
	l.Helper()
	const side = commandtest.SmallSide
	all := image.NewRGBA(image.Rect(0, 0, side*len(classes), side))
	for i, class := range classes {
		m, err := jpeg.Decode(bytes.NewReader(commandtest.Photo(class, number, side)))
		if err != nil {
			l.Fatal(err)
		}
		draw.Draw(all, image.Rect(i*side, 0, (i+1)*side, side), m, image.Point{}, draw.Src)
		width := 1 / float64(len(classes))
		found = append(found, detection{"1", 0.9, [4]float64{(float64(i) + 0.15) * width, 0.15, 0.7 * width, 0.7}})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, all); err != nil {
		l.Fatal(err)
	}
	l.Write(file, b.Bytes())
	return found
}

// boxed writes photos of one to three classes each and their boxes, as MegaDetector and as
// COCO do, and returns the class of each box.
func boxed(l *commandtest.Bed, dir string, first int) (truth map[string]string) {
	l.Helper()
	truth = map[string]string{}
	var images, sizes, annotations []map[string]any
	classes := []string{"kiwi", "lime", "plum"}
	for n := range 6 {
		name := fmt.Sprintf("%d.png", n)
		of := []string{classes[n%3], classes[(n+1)%3], classes[(n+2)%3]}[:1+n%3]
		found := sideBySide(l, filepath.Join(dir, name), first+n, of...)
		width, height := float64(commandtest.SmallSide*len(of)), float64(commandtest.SmallSide)
		for i, class := range of {
			truth[fmt.Sprintf("%s#%d", name, i+1)] = class
			b := found[i].BBox
			annotations = append(annotations, map[string]any{"image_id": n, "category_id": slices.Index(classes, class),
				"bbox": []float64{b[0] * width, b[1] * height, b[2] * width, b[3] * height}})
		}
		images = append(images, map[string]any{"file": name, "detections": found})
		sizes = append(sizes, map[string]any{"id": n, "file_name": name, "width": width, "height": height})
	}
	write := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			l.Fatal(err)
		}
		l.Write(filepath.Join(dir, name), text)
	}
	var categories []map[string]any
	for i, class := range classes {
		categories = append(categories, map[string]any{"id": i, "name": class})
	}
	write("coco.json", map[string]any{"images": sizes, "annotations": annotations, "categories": categories})
	person := detection{"2", 0.75, [4]float64{0, 0, 0.5, 1}}
	images[2]["detections"] = append(images[2]["detections"].([]detection), person, detection{"1", 0.1, person.BBox})
	l.Write(filepath.Join(dir, "empty.png"), commandtest.Photo("kiwi", 90, commandtest.SmallSide))
	l.Write(filepath.Join(dir, "broken.png"), []byte("\x89PNG\r\n\x1a\n"))
	images = append(images, map[string]any{"file": "empty.png", "detections": []detection{}},
		map[string]any{"file": "broken.png", "detections": []detection{person}},
		map[string]any{"file": "gone.png", "detections": []detection{person}})
	write("md.json", map[string]any{"images": images, "info": map[string]any{"format_version": "1.4"},
		"detection_categories": map[string]string{"1": "animal", "2": "person", "3": "vehicle"}})
	return truth
}

// TestBoxes: boxes are learned by their categories, labelled in photos of several classes,
// and give the same in shards, in a second run, and from embedded features.
func TestBoxes(t *testing.T) {
	l := commandtest.New(t)
	boxed(l, l.Path("learn"), 0)
	truth := boxed(l, l.Path("look"), 50)
	model, look := l.Path("boxes.model"), l.Path("look")
	md := l.Path("look", "md.json")
	l.Must("train", "--images", l.Path("learn"), "--boxes", l.Path("learn", "coco.json"), "--out", model)
	run := l.Expect(3, "label", model, "--images", look, "--boxes", md, "--out", l.Path("out"), "--format",
		"csv,jsonl,parquet")
	for _, words := range []string{"labelled 13 boxes", "on 7 of 8 photos", "1 named by the detector"} {
		if !strings.Contains(run.Stdout, words) {
			t.Errorf("no %q in %s", words, run.Stdout)
		}
	}
	if !strings.Contains(run.Stderr, "gone.png") {
		t.Errorf("nothing about a photo that is gone: %s", run.Stderr)
	}
	rows := l.Table(l.Path("out"), "labels.csv")
	labels, boxes := commandtest.Column(t, rows, "label"), commandtest.Column(t, rows, "box")
	by := commandtest.Column(t, rows, "by")
	for i, path := range commandtest.Column(t, rows, "path") {
		want, who := truth[path], ""
		if path == "2.png#4" {
			want, who = "person", "detector"
		}
		if labels[i] != want || by[i] != who || strings.Count(boxes[i], ",") != 3 {
			t.Errorf("%s at %q is %s by %q, want %s", path, boxes[i], labels[i], by[i], want)
		}
	}
	if len(rows) != 14 || boxes[0] != "0.15,0.15,0.7,0.7" {
		t.Errorf("%d rows, the first box is %s", len(rows), boxes[0])
	}
	photos := l.Table(l.Path("out"), "photos.csv")
	want := [][]string{{"path", "labels", "n_boxes"}, {"0.png", "kiwi", "1"}, {"1.png", "lime;plum", "2"},
		{"2.png", "kiwi;lime;person;plum", "4"}, {"3.png", "kiwi", "1"}, {"4.png", "lime;plum", "2"},
		{"5.png", "kiwi;lime;plum", "3"}, {"empty.png", "empty", "0"}}
	if fmt.Sprint(photos) != fmt.Sprint(want) {
		t.Errorf("photos.csv\n%v, want\n%v", photos, want)
	}
	if problems := l.Table(l.Path("out"), "errors.csv"); len(problems) != 2 || problems[1][0] != "broken.png#1" {
		t.Errorf("errors.csv %v", problems)
	}
	l.Expect(3, "label", model, "--images", look, "--boxes", md, "--out", l.Path("again"), "--threads", "1")
	l.Same("a second run", l.Read(l.Path("out"), "labels.csv"), l.Path("again", "labels.csv"))
	if read := l.Timing(l.Path("again"), "read"); read != 1 { // the broken one
		t.Errorf("the second run read %d files", read)
	}
	sameInShards(t, l, model, look, md)
	l.Expect(3, "label", model, "--images", look, "--boxes", md, "--only", "decided", "--out", l.Path("decided"))
	if photos := l.Table(l.Path("decided"), "photos.csv"); len(photos) != 1 {
		t.Errorf("nothing is decided, and photos.csv has %v", photos)
	}
	again := l.Expect(3, "train", "--images", look, "--list", l.Path("out", "labels.csv"), "--boxes", md, "--out",
		l.Path("again.model"), "--predictions")
	if !strings.Contains(again.Stdout, "12 samples of 3 classes") {
		t.Errorf("the table of labels as a list: %s", again.Stdout)
	}
	l.Must("embed", "--images", look, "--boxes", l.Path("look", "coco.json"), "--out", l.Path("features"))
	if got := l.Must("eval", model, "--features", l.Path("features")).Stdout; !strings.Contains(got, "100.0 %") {
		t.Errorf("features: %s", got)
	}
}

func sameInShards(t *testing.T, l *commandtest.Bed, model, look, md string) {
	t.Helper()
	var all [][]string
	for _, shard := range []string{"1/2", "2/2"} {
		l.RunWith("", "label", model, "--images", look, "--boxes", md, "--out", l.Path("shards"), "--shard", shard)
		rows := l.Table(l.Path("shards", "shard-"+strings.ReplaceAll(shard, "/", "-of-")), "labels.csv")
		all = append(all, rows[1:]...)
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if whole := l.Table(l.Path("out"), "labels.csv")[1:]; fmt.Sprint(all) != fmt.Sprint(whole) {
		t.Errorf("shards give\n%v\nand the whole\n%v", all, whole)
	}
}

// TestBoxesElsewhere: the other commands read boxes, persons are never learned or ranked,
// and what is about whole photos is refused.
func TestBoxesElsewhere(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	boxed(l, l.Path("more"), 20)
	l.Photos(l.Path("fig"), commandtest.SmallSide, 4, "fig")
	l.Write(l.Path("fig.json"), []byte(`{"images": [
		{"file": "fig/000.jpg", "detections": [{"category": "1", "conf": 0.5, "bbox": [0.1, 0.1, 0.8, 0.8]}]},
		{"file": "fig/001.jpg", "detections": [{"category": "1", "conf": 0.5, "bbox": [0.1, 0.1, 0.8, 0.8]},
			{"category": "2", "conf": 0.5, "bbox": [0.1, 0.1, 0.8, 0.8]}]},
		{"file": "fig/002.jpg", "detections": []}]}`))
	run := l.Must("learn", model, "--images", l.Path("fig"), "--boxes", l.Path("fig.json"), "--out",
		l.Path("fig.model"))
	if !strings.Contains(run.Stdout, "2 samples") || !strings.Contains(run.Stderr, "fig/003.jpg") {
		t.Errorf("learned: %s%s", run.Stdout, run.Stderr)
	}
	again := l.Must("learn", l.Path("fig.model"), "--images", l.Path("fig"), "--boxes", l.Path("fig.json"))
	if !strings.Contains(again.Stdout, "nothing") && !strings.Contains(again.Stdout, "0 samples") {
		t.Errorf("learned again: %s", again.Stdout)
	}
	l.Must("eval", model, "--images", l.Path("more"), "--boxes", l.Path("more", "coco.json"))
	l.Must("rank", model, "--images", l.Path("more"), "--boxes", l.Path("more", "md.json"), "--by", "margin",
		"--out", l.Path("look.csv"))
	if rows := l.Table(l.Path("look.csv")); len(rows) != 13 {
		t.Errorf("%d rows are ranked, want 12 boxes and a header", len(rows))
	}
	more := []string{"--images", l.Path("more"), "--boxes", l.Path("more", "md.json"), "--out", l.Path("no")}
	for _, flag := range []string{"--organise=link", "--xmp", "--report"} {
		l.Refused(2, []string{strings.TrimLeft(flag[:5], "-"), "--boxes"},
			append([]string{"label", model, flag}, more...)...)
	}
	l.Refused(2, []string{"--boxes", "--images"}, "label", model, "--features", l.Foreign(4), "--boxes", "x", "--out",
		"y")
	l.Refused(2, []string{"boxes.file"}, "serve", model, "--images", l.Path("fig"), "--set", "boxes.file=x")
	l.Refused(2, []string{"min_confidence"}, append([]string{"label", model, "--min-confidence", "1.5"}, more...)...)
	l.Refused(1, []string{"no such file"}, "label", model, "--images", l.Path("fig"), "--boxes", "none.json", "--out",
		"y")
	l.Refused(1, []string{"0.png", "--images"}, "label", model, "--images", l.Path("fig"), "--boxes",
		l.Path("more", "md.json"), "--out", l.Path("no"))
}
