package preprocess

import (
	"math"
	"strings"
)

// A geometry is the size after the resize and the square window that the crop
// keeps, in pixels.
type geometry struct {
	width, height int
	left, top     int
	side          int
	// across and down are the parts of a raster that the picture covers; zero
	// means all.
	across, down extent
}

// An extent is a range of an axis, in pixels.
type extent struct{ start, length float64 }

// geometry follows torchvision: the longer side is ⌊Size·long/short⌋
// (_compute_resized_output_size), the crop's corner is rounded half to even
// (center_crop's int(round(…))).
func (s Spec) geometry(width, height int) geometry {
	g := geometry{width: s.Size, height: s.Size, side: s.Side()}
	switch {
	case s.View == ViewSqueeze || s.View == ViewPad:
		g.width, g.height = g.side, g.side
	case s.Resize == ResizeShorter || s.View == ViewViews:
		if width <= height {
			g.height = s.Size * height / width
		} else {
			g.width = s.Size * width / height
		}
	}
	g.left = centre(g.width - g.side)
	g.top = centre(g.height - g.side)
	return g
}

// geometryIn is geometry for an upright raster of the planned picture. At reduced
// size it is still that of the full picture, which covers only a part of the last
// row and column where by does not divide its sides; Pillow's draft mode leaves
// that out and may be off by a pixel of the result.
func (s Spec) geometryIn(r raster, n plan, orientation int) geometry {
	if n.by <= 1 || s.View == ViewPad { // with bars, half a pixel less does not matter
		return s.geometry(r.size())
	}
	w, h := n.width, n.height
	if orientation >= 5 {
		w, h = h, w
	}
	g := s.geometry(w, h)
	right, bottom := r.size()
	g.across = covered(w, n.by, right, strings.ContainsRune("2367", rune('0'+orientation)))
	g.down = covered(h, n.by, bottom, strings.ContainsRune("3478", rune('0'+orientation)))
	return g
}

// covered returns the extent of a side in an axis of its pixels at 1/by of the
// size; a mirrored axis begins with the pixel that it covers only partly.
func covered(side, by, pixels int, mirrored bool) extent {
	e := extent{length: float64(side) / float64(by)}
	if mirrored {
		e.start = float64(pixels) - e.length
	}
	return e
}

func centre(margin int) int { return int(math.RoundToEven(float64(margin) / 2)) }

// verticalFirst reports whether the vertical pass comes first. The order
// changes the last bits because values are rounded to bytes in between. Since
// version 13 Pillow runs the vertical pass first when the height shrinks by
// more than twice as many pixels as the width (tall screenshots); earlier
// versions never do.
func (g geometry) verticalFirst(width, height int) bool {
	shrink := height - g.height
	return shrink > 0 && shrink > 2*(width-g.width)
}
