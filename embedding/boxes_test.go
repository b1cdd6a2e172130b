package embedding

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// boxed returns n boxes of each sample.
func boxed(samples []dataset.Sample, n int) (all []dataset.Sample) {
	for _, s := range samples {
		for i := range n {
			b := &dataset.Box{Number: i + 1, X: float64(i) / 10_000, W: 0.1, H: 0.1}
			all = append(all, b.In(s))
		}
	}
	return all
}

// TestStreamOfBoxes: a photo is decoded once for its boxes, in order, however many there
// are in the window, the batch and the photo; a second run computes and reads nothing.
func TestStreamOfBoxes(t *testing.T) {
	root, photos := photos(t, 12)
	for _, c := range []struct{ boxes, batch, window int }{{1, 1, 1}, {5, 4, 3}, {70, 8, 16}, {3, 1000, 0}} {
		samples := boxed(photos, c.boxes)
		samples = append(samples, photos[3]) // a whole one after them
		cached := mustCache(t, t.TempDir())
		b := newBench(cached, c.batch)
		b.Window = c.window
		items, counts := b.run(t, root, samples)
		if len(items) != len(samples) || b.tensors.Load() != 13 {
			t.Fatalf("%+v: %d items of %d, decoded %d times", c, len(items), len(samples), b.tensors.Load())
		}
		// The files are of two lengths, so a box of one may equal that of another only in content.
		seen := map[string]bool{}
		for i, item := range items {
			if item.Err != nil || item.Sample.Path != samples[i].Path {
				t.Fatalf("%+v: item %d is %s, %v", c, i, item.Sample.Path, item.Err)
			}
			seen[fmt.Sprint(item.Hash)] = true
			if box := samples[i].Box; box != nil {
				want := 2*(float32(len(contentOf(i/c.boxes)))+float32(box.X)*1000) + 1
				if item.Vector[0] != want {
					t.Fatalf("%+v: %s is %g, want %g", c, item.Sample.Path, item.Vector[0], want)
				}
			}
		}
		if len(seen) != len(samples) {
			t.Errorf("%+v: %d contents of %d", c, len(seen), len(samples))
		}
		if counts.Inferred != len(samples) || counts.Read != 13 {
			t.Errorf("%+v: %+v", c, counts)
		}
		again := newBench(cached, c.batch)
		if _, counts := again.run(t, root, samples); counts.Read != 0 || counts.Cached != len(samples) {
			t.Errorf("%+v, a second time: %+v", c, counts)
		}
		more := boxed(photos[:1], c.boxes+1)
		if _, counts := again.run(t, root, more); counts.Read != 1 || counts.Inferred != 1 {
			t.Errorf("%+v, one box more: %+v", c, counts)
		}
	}
}

// TestStreamOfBadBoxes: a bad box is one row, a bad photo one for each of its boxes, and
// equal boxes are computed once.
func TestStreamOfBadBoxes(t *testing.T) {
	root, photos := photos(t, 3)
	writePhoto(t, filepath.Join(root, photos[1].Path), "no photo")
	samples := boxed(photos, 3)
	samples[1].Box.W = 1
	samples[8].Box.X = samples[7].Box.X
	samples = append(samples, boxed([]dataset.Sample{{Path: "gone.jpg"}}, 2)...)
	b := newBench(mustCache(t, t.TempDir()), 2)
	items, counts := b.run(t, root, samples)
	var failed []string
	for _, item := range items {
		if item.Err != nil {
			failed = append(failed, item.Sample.Path)
		}
	}
	want := []string{samples[1].Path, samples[3].Path, samples[4].Path, samples[5].Path, "gone.jpg#1", "gone.jpg#2"}
	if !slices.Equal(failed, want) {
		t.Errorf("failed %q, want %q", failed, want)
	}
	if !slices.Equal(items[7].Vector, items[8].Vector) || counts.Inferred != 4 || counts.Cached != 1 {
		t.Errorf("equal boxes: %v and %v, %+v", items[7].Vector, items[8].Vector, counts)
	}
}

// TestStreamOfBoxesStops: an error in the middle of a photo ends the run.
func TestStreamOfBoxesStops(t *testing.T) {
	root, photos := photos(t, 2)
	b := newBench(nil, 2)
	stop := errors.New("no more")
	b.extractor.before = func(int) error { return stop }
	_, err := b.Run(t.Context(), root, boxed(photos, 9), func(Item) error { return nil })
	if !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}
