package events

import (
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/dataset"
)

// Photos without EXIF go by their names or the list, and are of one camera in a folder.
func TestTakenOf(t *testing.T) {
	root := t.TempDir()
	samples := []dataset.Sample{
		{Path: "fox/IMG_20250614_101112.jpg"}, {Path: "fox/b.jpg", Taken: "2025-06-14T10:15:00+02:00"},
		{Path: "owl/IMG_20250614_101112.jpg"}, {Path: "owl/c.jpg"},
		{Path: "fox/b.jpg#2", Taken: "2025-06-14T10:15:00+02:00", Box: &dataset.Box{Number: 2}},
	}
	got := TakenOf(root, samples)
	clock := time.Date(2025, 6, 14, 10, 11, 12, 0, time.UTC).Unix()
	if got[0].Unix != clock || got[1].Unix != clock+228 || got[2].Unix != clock || got[3] != (holdout.Taken{}) {
		t.Errorf("%v", got)
	}
	if got[0].Camera != got[1].Camera || got[0].Camera == got[2].Camera || got[4] != got[1] {
		t.Errorf("%v", got)
	}
	again := samples[4]
	again.Path, again.Box = "fox/b.jpg#3", &dataset.Box{Number: 3}
	if got := TakenOf(root, append(samples, again)); got[5] != got[1] || got[3] != (holdout.Taken{}) {
		t.Errorf("two boxes that follow each other: %v", got)
	}
	if got := TakenOf(root, samples[3:4]); got != nil {
		t.Errorf("%v", got)
	}
}
