package teach

import (
	"context"
	"image"
	"math"
	"slices"

	"golang.org/x/image/draw"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const sketchSide = 16

// A Sketch is a picture in 16×16 levels of grey, which copies of a photo have in common though they were cut, scaled,
// brightened or saved again.
type Sketch [sketchSide * sketchSide]byte

// NewSketch returns the sketch of a picture.
func NewSketch(picture image.Image) (s Sketch) {
	small := image.NewGray(image.Rect(0, 0, sketchSide, sketchSide))
	draw.BiLinear.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	copy(s[:], small.Pix)
	return s
}

// correlation returns that of the grey levels of two sketches, or of one and the mirror image of the other if that is
// larger, −1 to 1. A picture of one colour is like no other.
func (s *Sketch) correlation(other *Sketch) float64 {
	var a, b, aa, bb, same, mirrored float64
	for at, v := range s {
		row, column := at/sketchSide, at%sketchSide
		x, y, z := float64(v), float64(other[at]), float64(other[row*sketchSide+sketchSide-1-column])
		a, b, aa, bb = a+x, b+y, aa+x*x, bb+y*y
		same, mirrored = same+x*y, mirrored+x*z
	}
	const n = float64(len(s))
	spread := math.Sqrt((aa - a*a/n) * (bb - b*b/n))
	if spread == 0 {
		return 0
	}
	return (max(same, mirrored) - a*b/n) / spread
}

// sketch makes the sketches of photos that may be near-duplicates of each other, unless they are there. Who cannot be
// read has none.
func (s *Session) sketch(ctx context.Context) error {
	s.mu.RLock()
	var rows []int
	have := s.duplicates.sketches
	for _, p := range s.duplicates.pairs {
		for _, i := range []int{int(p.a), int(p.b)} {
			if have[i] == nil && s.photos[i].Path != "" {
				rows = append(rows, i)
			}
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	photos := picked(s.photos, rows)
	s.mu.RUnlock()
	made := make([]*Sketch, len(rows))
	err := dense.ParallelErr(len(rows), func(k int) error {
		if drawn, err := s.options.Sketch(ctx, photos[k]); err == nil {
			made[k] = &drawn
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, i := range rows {
		s.duplicates.sketches[i] = made[k]
	}
	return nil
}
