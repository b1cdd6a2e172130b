package preprocess

import (
	"context"
	"math"
)

// Values of Spec.View: what the network is shown of a picture that is not square.
const (
	// ViewCrop, which a Spec writes as "", is the centre crop.
	ViewCrop = "crop"
	// ViewSqueeze is the whole picture, squeezed into the square.
	ViewSqueeze = "squeeze"
	// ViewPad is the whole picture, with bars of the mean colour.
	ViewPad = "pad"
	// ViewViews is squares along the longer side, from one end to the other, each as large as
	// the centre crop and overlapping; the embedding is the mean of theirs.
	ViewViews = "views"
)

const (
	// mostViews bounds the squares of a very long picture, which then lie apart.
	mostViews = 16
	// nearlySquare is the ratio of sides up to which one view is enough.
	nearlySquare = 1.1
	// hiddenRatio is the ratio of sides from which a centre crop hides more than a quarter of
	// what it shows of a square picture.
	hiddenRatio = 4.0 / 3
)

// Tensors is like Tensor for all squares that stand for the picture: one, or with ViewViews as
// many as its sides ask for. It decodes the file once and calls use for each, from left to
// right or top to bottom, with a function that writes its tensor, which must not be called
// after use returns. An error of use ends it.
func (p *Preprocessor) Tensors(ctx context.Context, file []byte,
	use func(tensor func(dst []float32) error) error) error {
	var failed error
	err := p.decode(ctx, file, p.spec.Size, p.upright(file, func(w, h int) int64 {
		w, h = p.spec.padded(w, h)
		return p.spec.geometry(w, h).bytes(p.filter, w, h)
	}, func(r raster, n plan, orientation int, s *resampler) {
		if w, h := r.size(); p.spec.hides(w, h) {
			remark(ctx, RemarkHidden)
		}
		for _, g := range p.spec.squares(p.spec.geometryIn(r, n, orientation)) {
			failed = use(func(dst []float32) error { return p.show(dst, r, g, s) })
			if failed != nil {
				return
			}
		}
	}))
	if err != nil {
		return err
	}
	return failed
}

// show writes the tensor of one square of a picture.
func (p *Preprocessor) show(dst []float32, r raster, g geometry, s *resampler) error {
	if err := p.checkLength(dst); err != nil {
		return err
	}
	if w, h := r.size(); p.spec.View == ViewPad && w != h {
		side := max(w, h)
		r = &canvas{width: side, height: side, x: (side - w) / 2, y: (side - h) / 2,
			background: p.spec.meanColour(), frame: r}
	}
	p.resampleTo(dst, r, g, s)
	return nil
}

// padded returns the size of a picture with its bars, if it gets any.
func (s Spec) padded(w, h int) (width, height int) {
	if s.View == ViewPad {
		w = max(w, h)
		h = w
	}
	return w, h
}

// squares returns the windows of a resized picture that are shown, in order.
func (s Spec) squares(g geometry) []geometry {
	longer := max(g.width, g.height)
	margin := float64(min(g.width, g.height) - g.side)
	if s.View != ViewViews || float64(longer)-margin <= nearlySquare*float64(g.side) {
		return []geometry{g}
	}
	n := min(mostViews, (longer+g.side-1)/g.side)
	all := make([]geometry, n)
	for i := range all {
		at := int(math.RoundToEven(float64(i) * float64(longer-g.side) / float64(n-1)))
		if all[i] = g; g.width > g.height {
			all[i].left = at
		} else {
			all[i].top = at
		}
	}
	return all
}

// hides reports whether the centre crop hides much of a picture of w×h.
func (s Spec) hides(w, h int) bool {
	const slack = 1.01 // sides are rounded, also by cameras
	return s.View == "" && s.Resize == ResizeShorter &&
		float64(max(w, h)) > slack*hiddenRatio*float64(min(w, h))
}
