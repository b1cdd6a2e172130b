package teach

import (
	"context"
	"errors"
	"image"
	"image/color"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/random"
)

// drawing returns a picture of twelve rectangles, drawn by a seed.
func drawing(seed uint64) *image.Gray {
	rng, picture := random.Stream(seed, "drawing"), image.NewGray(image.Rect(0, 0, 120, 90))
	for range 12 {
		x, y, level := rng.IntN(90), rng.IntN(60), uint8(rng.IntN(230))
		for i := range 30 * 30 {
			picture.SetGray(x+i%30, y+i/30, color.Gray{Y: level})
		}
	}
	return picture
}

// TestSketches: a sketch is like that of the picture cut, mirrored or brighter, and not like that of another picture.
func TestSketches(t *testing.T) {
	picture := drawing(1)
	mirrored, brighter := image.NewGray(picture.Bounds()), image.NewGray(picture.Bounds())
	for i, v := range picture.Pix {
		mirrored.Pix[i-i%120+119-i%120], brighter.Pix[i] = v, v+v/14
	}
	of := NewSketch(picture)
	for name, c := range map[string]struct {
		picture image.Image
		low     float64
		high    float64
	}{
		"itself":   {picture, 1 - 1e-9, 1 + 1e-9},
		"cut":      {picture.SubImage(image.Rect(2, 3, 117, 88)), 0.9, 1},
		"mirrored": {mirrored, 0.99, 1 + 1e-9},
		"brighter": {brighter, 0.99, 1 + 1e-9},
		"another":  {drawing(2), -1, 0.7},
		"plain":    {image.NewGray(picture.Bounds()), 0, 0},
	} {
		other := NewSketch(c.picture)
		if got := of.correlation(&other); got < c.low || got > c.high {
			t.Errorf("%s: %.3f", name, got)
		}
	}
}

// TestDuplicatesByPixels: photos whose embeddings are somewhat alike are near-duplicates if their pixels are, unless
// more is asked for; one that cannot be drawn is none.
func TestDuplicatesByPixels(t *testing.T) {
	w := newWorldOf(4, 60, 64)
	for i := 1; i < 4; i++ { // at a cosine of 0.9 or so
		for j := range w.vectors[i] {
			w.vectors[i][j] = w.vectors[0][j] + 0.5*w.vectors[20+i][j]
		}
	}
	s := w.openAt(t, t.TempDir(), "plda")
	s.options.Sketch = func(_ context.Context, p Photo) (Sketch, error) {
		switch p.ID {
		case w.photos[2].ID:
			return Sketch{}, errors.New("unreadable")
		case w.photos[0].ID, w.photos[1].ID:
			return NewSketch(drawing(1)), nil
		}
		return NewSketch(drawing(uint64(p.ID[0]))), nil
	}
	if got := duplicates(t, s, Query{}); len(got) != 1 || len(got[0]) != 2 {
		t.Errorf("groups: %v", got)
	}
	if got := duplicates(t, s, Query{Alike: MostAlike}); len(got) != 0 {
		t.Errorf("groups of what is alike most: %v", got)
	}
}

// TestCopiesAside: what was set aside as a copy says of what, until that is taken back; kept is for nothing else.
func TestCopiesAside(t *testing.T) {
	w, s := withCopies(t)
	kept := w.photos[0].ID
	for _, d := range []Decision{
		{Do: Label, Images: w.ids(1), Class: "a", Kept: &kept}, {Do: Ignore, Images: w.ids(0, 1), Kept: &kept},
		{Do: Ignore, Images: w.ids(1), Kept: &ID{9, 9}}, {Do: Rename, Class: "a", To: "b", Kept: &kept},
	} {
		if _, err := s.Do(d); !refused(err, Invalid) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	do(t, s, Decision{Do: Ignore, Images: w.ids(1, 2), Kept: &kept})
	do(t, s, Decision{Do: Ignore, Images: w.ids(5)})
	got := s.CopiesAside()
	if len(got) != 2 || got[0].Kept != w.photos[0].Path || got[0].Path == got[1].Path {
		t.Errorf("copies: %+v", got)
	}
	if d, _ := s.state.decision(w.photos[1].ID); d.CopyOf != [32]byte(kept) || d.Given() {
		t.Errorf("decided: %+v", d)
	}
	do(t, s, Decision{Do: Label, Images: w.ids(1), Class: "a"})
	if got := s.CopiesAside(); len(got) != 1 {
		t.Errorf("%d copies after one has a label", len(got))
	}
}
