package labels_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestBoxesForOtherPrograms: a photo is in the folder of each class that it shows, boxes are
// pictures in imagefolder and rectangles in label-studio, and both come back.
func TestBoxesForOtherPrograms(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	truth := l.Boxed(l.Path("look"), 50)
	look := []string{"--images", l.Path("look"), "--boxes", l.Path("look", "md.json")}
	labelled := func(model, out string, more ...string) [][]string {
		l.Expect(3, slices.Concat([]string{"label", model, "--out", l.Path(out)}, look, more)...)
		return l.Table(l.Path(out, "labels.csv"))
	}
	first := labelled(model, "first", "--organise=copy", "--format", "csv,imagefolder")
	want := map[string]bool{"/empty/empty.png": true, "/person/2.png": true}
	for box, class := range truth {
		photo, _, _ := strings.Cut(box, "#")
		want["/"+class+"/"+photo] = true
	}
	if got := slices.Sorted(maps.Keys(l.Tree(l.Path("first", "by-class")))); !slices.Equal(got,
		slices.Sorted(maps.Keys(want))) {
		t.Errorf("by-class has %q, want %q", got, slices.Sorted(maps.Keys(want)))
	}
	crops, list := l.Path("crops.model"), l.Path("first", "imagefolder", "metadata.jsonl")
	l.Must("train", "--list", list, "--predictions", "--out", crops)
	seen := labelled(crops, "seen")
	if got := commandtest.Column(t, seen, "label"); !slices.Equal(got, commandtest.Column(t, first, "label")) {
		t.Errorf("learned from pictures of boxes: %q", got)
	}

	taught, back := l.Path("taught.model"), l.Path("back.model")
	l.Expect(3, slices.Concat([]string{"train", "--list", l.Path("first", "labels.csv"), "--predictions", "--out",
		taught}, look)...)
	labelled(taught, "taught", "--format", "csv,label-studio")
	tasks := l.Path("taught", "label-studio", "tasks.json")
	l.Must(slices.Concat([]string{"train", "--list", tasks, "--out", back}, look)...)
	labelled(back, "back", "--format", "csv,label-studio")
	version := regexp.MustCompile(`"model_version":"[^"]*"`)
	was, is := version.ReplaceAll(l.Read(tasks), nil), version.ReplaceAll(
		l.Read(l.Path("back", "label-studio", "tasks.json")), nil)
	if !bytes.Equal(was, is) || !bytes.Contains(was, []byte(`"id":"box-2"`)) {
		t.Errorf("the rectangles come back as\n%.900s\nand were\n%.900s", is, was)
	}
	studio := opened(l, []string{"label_studio_converter"}, l.Path("taught"))[l.Path("taught")]["label_studio"]
	if studio["train 2.png"] != "kiwi;lime;plum" || studio["train empty.png"] != "" || len(studio) != 7 {
		t.Errorf("label-studio says %v", studio)
	}
}

// TestRankedBoxes: a contact sheet shows boxes, and groups of unknown ones are pictures that can
// be learned.
func TestRankedBoxes(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	var images []string
	for i, class := range []string{"fig", "fig", "fig", "fig", "kiwi"} {
		name := fmt.Sprintf("%d.jpg", i)
		l.Write(l.Path("look", name), commandtest.Photo(class, 30+i, commandtest.SmallSide))
		images = append(images, fmt.Sprintf(`{"file": %q, "detections": [
			{"category": "1", "conf": 0.9, "bbox": [0.05, 0.05, 0.9, 0.9]}]}`, name))
	}
	l.Write(l.Path("md.json"), []byte(`{"images": [`+strings.Join(images, ",")+`]}`))
	l.Must("rank", model, "--images", l.Path("look"), "--boxes", l.Path("md.json"), "--out", l.Path("look.csv"),
		"--sheet", l.Path("look.html"), "--reject", "0.3", "--cluster-unknown", l.Path("groups"))
	if page := string(l.Read(l.Path("look.html"))); strings.Count(page, "data:image/jpeg") != 5 ||
		!strings.Contains(page, "4.jpg#1") {
		t.Error("the sheet does not show five boxes")
	}
	groups := l.Tree(l.Path("groups"))
	named := l.Path("named", "fig")
	for name := range groups {
		if !strings.HasSuffix(name, ".jpg.1.jpg") {
			t.Errorf("a group has %s", name)
		}
		l.Write(filepath.Join(named, filepath.Base(name)), l.Read(l.Path("groups", name)))
	}
	if len(groups) < 3 {
		t.Fatalf("groups %v", groups)
	}
	l.Must("learn", model, "--images", l.Path("named"), "--out", l.Path("more.model"))
	boxes := []string{"--images", l.Path("look"), "--boxes", l.Path("md.json")}
	l.Must(append([]string{"label", l.Path("more.model"), "--out", l.Path("out")}, boxes...)...)
	rows := l.Table(l.Path("out", "labels.csv"))
	if got := commandtest.Column(t, rows, "label"); !slices.Equal(got, []string{"fig", "fig", "fig", "fig", "kiwi"}) {
		t.Errorf("after learning a group: %q", got)
	}
	l.Must(append([]string{"rank", "--first", "2", "--out", l.Path("first.csv"), "--sheet", l.Path("first.html")},
		boxes...)...)
	if page := string(l.Read(l.Path("first.html"))); strings.Count(page, "data:image/jpeg") != 2 {
		t.Error("the sheet of the first ones does not show two boxes")
	}
}
