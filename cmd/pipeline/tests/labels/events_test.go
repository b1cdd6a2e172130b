package labels

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestEvents: photos of one camera within a minute get one event and its class, those
// without a time are said, and a second run gives the same.
func TestEvents(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	look := l.Path("look")
	for i, of := range []struct{ name, class string }{
		{"a/IMG_20250614_101112.jpg", "kiwi"}, {"a/IMG_20250614_101130.jpg", "kiwi"},
		{"a/IMG_20250614_101200.jpg", "kiwi"}, {"a/IMG_20250614_111200.jpg", "plum"},
		{"b/IMG_20250614_101112.jpg", "lime"}, {"b/timeless.jpg", "lime"},
	} {
		l.Write(filepath.Join(look, of.name), commandtest.Photo(of.class, 60+i, commandtest.SmallSide))
	}
	run := l.Must("label", model, "--images", look, "--events", "60", "--out", l.Path("out"), "--format",
		"csv,jsonl,parquet")
	if !strings.Contains(run.Stdout, "4 events of 6 photos") || !strings.Contains(run.Stderr, "label.file_times") {
		t.Errorf("said %s%s", run.Stdout, run.Stderr)
	}
	rows := l.Table(l.Path("out"), "labels.csv")
	want := []string{"event-1 kiwi", "event-1 kiwi", "event-1 kiwi", "event-2 plum", "event-3 lime", "event-4 lime"}
	var got []string
	for i, name := range commandtest.Column(t, rows, "event") {
		got = append(got, name+" "+commandtest.Column(t, rows, "event_label")[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	p, alone := commandtest.Column(t, rows, "event_probability"), commandtest.Column(t, rows, "probability")
	if p[3] != alone[3] || p[0] != p[1] {
		t.Errorf("probabilities of events %q, of photos %q", p, alone)
	}
	table := fmt.Sprint(l.Table(l.Path("out"), "events.csv"))
	if table != "[[event start end camera n labels] "+
		"[event-1 2025-06-14T10:11:12 2025-06-14T10:12:00 a 3 kiwi] "+
		"[event-2 2025-06-14T11:12:00 2025-06-14T11:12:00 a 1 plum] "+
		"[event-3 2025-06-14T10:11:12 2025-06-14T10:11:12 b 1 lime] [event-4   b 1 lime]]" {
		t.Errorf("events.csv %s", table)
	}
	l.Must("label", model, "--images", look, "--events", "60", "--out", l.Path("again"), "--threads", "1")
	l.Same("a second run", l.Read(l.Path("out"), "labels.csv"), l.Path("again", "labels.csv"))
	l.Must("label", model, "--images", look, "--out", l.Path("again"))
	if l.Exists(l.Path("again", "events.csv")) {
		t.Error("the events of an earlier run are left")
	}
	sharing := []string{"label", model, "--images", look, "--events", "60", "--out", l.Path("no")}
	l.Refused(2, []string{"--events", "--shard"}, append(sharing, "--shard", "1/2")...)
	l.Refused(2, []string{"label.events", "-1"}, "label", model, "--images", look, "--events", "-1", "--out", "y")
	l.Refused(2, []string{"--events", "--images"}, "label", model, "--features", l.Foreign(4), "--events", "5", "--out",
		"y")
}

// TestEventsOfBoxes: the boxes of the photos of an event are its evidence, a person stays
// one, and an event without any box is empty.
func TestEventsOfBoxes(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	for _, name := range []string{"IMG_20250614_101112.jpg", "IMG_20250614_101115.jpg", "IMG_20250614_201115.jpg"} {
		l.Write(l.Path("look", name), commandtest.Photo("plum", 71, commandtest.SmallSide))
	}
	l.Write(l.Path("md.json"), []byte(`{"images": [
		{"file": "IMG_20250614_101112.jpg", "detections": [
			{"category": "1", "conf": 0.9, "bbox": [0.1, 0.1, 0.8, 0.8]},
			{"category": "2", "conf": 0.5, "bbox": [0.1, 0.1, 0.2, 0.2]}]},
		{"file": "IMG_20250614_101115.jpg", "detections": []},
		{"file": "IMG_20250614_201115.jpg", "detections": []}],
		"detection_categories": {"1": "animal", "2": "person"}}`))
	l.Must("label", model, "--images", l.Path("look"), "--boxes", l.Path("md.json"), "--events", "60", "--out",
		l.Path("out"))
	var got []string
	for _, row := range l.Table(l.Path("out"), "events.csv")[1:] {
		got = append(got, row[0]+" "+row[4]+" "+row[5])
	}
	if want := []string{"event-1 2 person;plum", "event-2 1 empty"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	rows := l.Table(l.Path("out"), "labels.csv")
	if labels := commandtest.Column(t, rows, "event_label"); !slices.Equal(labels, []string{"plum", "person"}) {
		t.Errorf("event_label %q", labels)
	}
}
