package preprocess

import "math"

// A geometry is the size after the resize and the square window that the crop
// keeps, in pixels.
type geometry struct {
	width, height int
	left, top     int
	side          int
}

// geometry follows torchvision: the longer side is ⌊Size·long/short⌋
// (_compute_resized_output_size), the crop's corner is rounded half to even
// (center_crop's int(round(…))).
func (s Spec) geometry(width, height int) geometry {
	g := geometry{width: s.Size, height: s.Size, side: s.Side()}
	if s.Resize == ResizeShorter {
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
