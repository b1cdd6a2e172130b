package preprocess

import (
	"context"
	"math"
)

const (
	// boxMargin is the side of the square around a box in lengths of its longer side.
	// Backbones that keep the central seven eighths of a picture then see the box whole.
	boxMargin = 1.15
	// fullSize is a size for which no photo is decoded at reduced size.
	fullSize = 1 << 30
)

// A Box is a part of a picture, as shares of its width and height from the upper left
// corner of the upright picture.
type Box struct{ X, Y, W, H float64 }

// square returns the upper left corner and the side, in pixels, of the square around the
// box in a picture of w×h. It is moved into the picture, and centred on it along an axis
// on which it does not fit.
func (b Box) square(w, h int) (x, y, side int) {
	longer := math.Max(b.W*float64(w), b.H*float64(h))
	side = int(math.Round(math.Max(1, boxMargin*longer)))
	return start(b.X+b.W/2, side, w), start(b.Y+b.H/2, side, h), side
}

// start returns where a stretch of length n around a share of an axis begins.
func start(centre float64, n, axis int) int {
	if n > axis {
		return -((n - axis) / 2)
	}
	at := math.Round(centre*float64(axis) - float64(n)/2)
	return int(math.Max(0, math.Min(at, float64(axis-n))))
}

// check refuses what is not a part of a picture.
func (b Box) check() error {
	inside := b.X >= 0 && b.Y >= 0 && b.W >= 0 && b.H >= 0 && b.X+b.W <= 1+1e-9 && b.Y+b.H <= 1+1e-9
	if !inside { // or NaN
		return fieldError("box", b, "shares of the picture, 0 to 1")
	}
	return nil
}

// Boxes decodes an image file once, at full resolution, and calls use for each box, in
// order, with a function that writes its tensor: that of a picture that shows only a
// square around the box, 1.15 times its longer side. What of the square lies outside the
// picture has the mean colour. tensor must not be called after use returns; it fails for
// a box outside the picture, or a square too large for the Budget. An error of use ends
// the work. Other errors are those of Tensor.
//
// Cost: that of decoding, and a pass over the pixels of each square.
func (p *Preprocessor) Boxes(ctx context.Context, file []byte, boxes []Box,
	use func(i int, tensor func(dst []float32) error) error) error {
	return p.boxes(ctx, file, boxes, use, func(square raster) (raster, geometry) {
		return square, p.spec.geometry(square.size()) // with any Spec.View there is one square
	})
}

// Boxes is like Preprocessor.Boxes, for the view of each square.
func (v View) Boxes(ctx context.Context, file []byte, boxes []Box,
	use func(i int, tensor func(dst []float32) error) error) error {
	side := v.p.spec.Side()
	return v.p.boxes(ctx, file, boxes, use, func(square raster) (raster, geometry) {
		return v.window(square, file), geometry{width: side, height: side, side: side}
	})
}

// boxes is Boxes with what is shown of a square.
func (p *Preprocessor) boxes(ctx context.Context, file []byte, boxes []Box,
	use func(i int, tensor func(dst []float32) error) error, shown func(square raster) (raster, geometry)) error {
	var failed error
	c := p.upright(file, func(w, h int) int64 { return p.boxBytes(boxes, w, h) },
		func(r raster, n plan, _ int, s *resampler) {
			if w, h := r.size(); rows(boxes, w, h) > h {
				r = whole(r)
			}
			for i, b := range boxes {
				failed = use(i, func(dst []float32) error { return p.box(dst, r, b, n.format, s, shown) })
				if failed != nil {
					return
				}
			}
		})
	c.side = 0 // stored thumbnails are of the whole picture
	if err := p.decode(ctx, file, fullSize, c); err != nil {
		return err
	}
	return failed
}

// box writes the tensor of one box of a picture.
func (p *Preprocessor) box(dst []float32, r raster, b Box, f format, s *resampler,
	shown func(square raster) (raster, geometry)) error {
	if err := p.checkLength(dst); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	x, y, side := b.square(r.size())
	if err := p.budget.checkArea(f, side, side); err != nil {
		return err
	}
	square := &canvas{width: side, height: side, x: -x, y: -y, background: p.spec.meanColour(), frame: r}
	part, g := shown(square)
	p.resampleTo(dst, part, g, s)
	return nil
}

// boxBytes bounds what boxes allocates for a picture of w×h.
func (p *Preprocessor) boxBytes(boxes []Box, w, h int) (n int64) {
	for _, b := range boxes {
		if _, _, side := b.square(w, h); b.check() == nil && p.budget.checkArea("", side, side) == nil {
			n = max(n, p.spec.geometry(side, side).bytes(p.filter, side, side))
		}
	}
	if rows(boxes, w, h) > h {
		n += uprightBytes(w, h)
	}
	return n
}

// rows returns how many rows of a picture all its boxes read.
func rows(boxes []Box, w, h int) (n int) {
	for _, b := range boxes {
		if b.check() == nil {
			_, _, side := b.square(w, h)
			n += min(side, h)
		}
	}
	return n
}

// whole returns the picture with all rows converted, for boxes that read some of them
// several times.
func whole(r raster) raster {
	if m, ok := r.(*Image); ok {
		return m
	}
	return upright(r, 1)
}

// meanColour is the colour that becomes zeros.
func (s Spec) meanColour() (c [3]byte) {
	for i, m := range s.Mean {
		c[i] = byte(math.Round(math.Max(0, math.Min(255, 255*m))))
	}
	return c
}
