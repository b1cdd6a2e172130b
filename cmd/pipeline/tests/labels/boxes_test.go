package labels

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestBoxes: boxes are learned by their categories, labelled in photos of several classes,
// and give the same in shards, in a second run, and from embedded features.
func TestBoxes(t *testing.T) {
	l := commandtest.New(t)
	l.Boxed(l.Path("learn"), 0)
	truth := l.Boxed(l.Path("look"), 50)
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
	l.RunWith("", "label", model, "--images", look, "--boxes", md, "--out", l.Path("whole"), "--adapt=false")
	var all [][]string
	for _, shard := range []string{"1/2", "2/2"} {
		l.RunWith("", "label", model, "--images", look, "--boxes", md, "--out", l.Path("shards"), "--shard", shard)
		rows := l.Table(l.Path("shards", "shard-"+strings.ReplaceAll(shard, "/", "-of-")), "labels.csv")
		all = append(all, rows[1:]...)
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if whole := l.Table(l.Path("whole"), "labels.csv")[1:]; fmt.Sprint(all) != fmt.Sprint(whole) {
		t.Errorf("shards give\n%v\nand the whole\n%v", all, whole)
	}
}

// TestBoxesElsewhere: the other commands read boxes, and persons are never learned or ranked.
func TestBoxesElsewhere(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	l.Boxed(l.Path("more"), 20)
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
	l.Must("eval", model, "--images", l.Path("more"), "--boxes", l.Path("more", "coco.json"),
		"--report="+l.Path("eval"))
	if page := string(l.Read(l.Path("eval", "report.html"))); strings.Count(page, "data:image/jpeg") != 12 {
		t.Errorf("the report of eval has %d pictures of 12 boxes", strings.Count(page, "data:image/jpeg"))
	}
	l.Must("rank", model, "--images", l.Path("more"), "--boxes", l.Path("more", "md.json"), "--by", "margin",
		"--out", l.Path("look.csv"))
	if rows := l.Table(l.Path("look.csv")); len(rows) != 13 {
		t.Errorf("%d rows are ranked, want 12 boxes and a header", len(rows))
	}
	more := []string{"--images", l.Path("more"), "--boxes", l.Path("more", "md.json"), "--out", l.Path("no")}
	keywordsAndReport(t, l, model, more)
	l.Refused(2, []string{"--boxes", "--images"}, "label", model, "--features", l.Foreign(4), "--boxes", "x", "--out",
		"y")
	l.Refused(1, []string{"none.json"}, "serve", model, "--images", l.Path("fig"), "--boxes", "none.json")
	l.Refused(2, []string{"orientation"}, "serve", model, "--images", l.Path("fig"), "--boxes", l.Path("fig.json"),
		"--set", "preprocess.orientation=false")
	l.Refused(1, []string{"0.png", "--images"}, "serve", model, "--images", l.Path("fig"), "--boxes",
		l.Path("more", "md.json"))
	l.Refused(2, []string{"min_confidence"}, append([]string{"label", model, "--min-confidence", "1.5"}, more...)...)
	l.Refused(1, []string{"no such file"}, "label", model, "--images", l.Path("fig"), "--boxes", "none.json", "--out",
		"y")
	l.Refused(1, []string{"0.png", "--images"}, "label", model, "--images", l.Path("fig"), "--boxes",
		l.Path("more", "md.json"), "--out", l.Path("no"))
}

// keywordsAndReport: a photo's keywords are the classes of its boxes, and a tile of the report
// is a box, which leads to its photo.
func keywordsAndReport(t *testing.T, l *commandtest.Bed, model string, more []string) {
	t.Helper()
	l.Expect(3, append([]string{"label", model, "--xmp", "--report"}, more...)...)
	labels := map[string][]string{}
	rows := l.Table(l.Path("no", "labels.csv"))
	for i, class := range commandtest.Column(t, rows, "label") {
		photo, _, _ := strings.Cut(rows[i+1][0], "#")
		labels[photo] = append(labels[photo], "<rdf:li>"+class+"</rdf:li>")
	}
	for photo, want := range labels {
		slices.Sort(want)
		want = slices.Compact(want)
		text := string(l.Read(l.Path("more", photo+".xmp")))
		if strings.Count(text, "<rdf:li>") != len(want) || slices.ContainsFunc(want, func(w string) bool {
			return !strings.Contains(text, w)
		}) {
			t.Errorf("the keywords of %s are %s, want %v", photo, text, want)
		}
	}
	page := string(l.Read(l.Path("no", "report.html")))
	if n := strings.Count(page, "data:image/jpeg"); n != 13 || strings.Contains(page, "%23") ||
		!strings.Contains(page, `/more/2.png"`) {
		t.Errorf("the report has %d pictures of 13 boxes, or leads to no photo", n)
	}
}
