package demo

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"git.sr.ht/~sbinet/gg"
)

// colour is a hue (in turns), a saturation and a value (0 to 1). The hue varies
// from picture to picture by up to stray in either direction.
type colour struct{ hue, saturation, value, stray float64 }

// rgb converts a colour: light multiplies its value, and dye, from -1 to 1,
// shifts its hue by a share of stray.
func (c colour) rgb(light, dye float64) color.RGBA {
	v := 255 * min(1, c.value*light)
	component := func(shift float64) uint8 {
		k := math.Mod((c.hue+c.stray*dye)*6+shift+12, 6)
		return uint8(v - v*c.saturation*max(0, min(1, k, 4-k)) + 0.5)
	}
	return color.RGBA{R: component(5), G: component(3), B: component(1), A: 255}
}

// part is an outline in one colour. A thing is a list of parts, drawn one over
// the other in the thing's own coordinates: x to the right, y down, one unit
// about half its width.
type part struct {
	path   string // see trace
	colour colour
	line   float64 // draw a line of this width instead of filling the outline
	copies int     // draw this many, rotated about the origin
}

// pose places a thing in a picture.
type pose struct {
	x, y, size float64 // of the origin, and of one unit, in pixels
	turn       float64 // in radians, clockwise
	flip       bool    // left to right
}

// draw draws a thing, each part with a shadow and lit from above.
func (p *picture) draw(thing []part, at pose, light float64) {
	for _, one := range thing {
		sheen := gg.NewLinearGradient(at.x, at.y-at.size, at.x, at.y+at.size)
		sheen.AddColorStop(0, one.colour.rgb(1.1*light, p.dye))
		sheen.AddColorStop(1, one.colour.rgb(0.85*light, p.dye))
		shade := gg.NewSolidPattern(color.NRGBA{A: 33})
		copies := max(1, one.copies)
		for i := range copies {
			for level, pattern := range []gg.Pattern{shade, shade, sheen} {
				layer := at
				layer.turn += 2 * math.Pi * float64(i) / float64(copies)
				layer.x += float64(2-level) * p.shadow[0]
				layer.y += float64(2-level) * p.shadow[1]
				p.paint(one, layer, pattern)
			}
		}
	}
}

// paint fills or strokes a part.
func (p *picture) paint(one part, at pose, with gg.Pattern) {
	p.Push()
	defer p.Pop()
	p.Translate(at.x, at.y)
	p.Rotate(at.turn)
	p.Scale(at.size, at.size*p.squeeze)
	if at.flip {
		p.Scale(-1, 1)
	}
	trace(p.Context, one.path)
	if one.line > 0 {
		p.SetStrokeStyle(with)
		p.SetLineWidth(one.line * at.size)
		p.Stroke()
	} else {
		p.SetFillStyle(with)
		p.Fill()
	}
}

// trace adds a path to the drawing, written like that of an SVG file, with
// spaces between all words: M moves, L draws a line, Q a quadratic and C a
// cubic Bézier curve, Z closes; B is a box by two opposite corners, and O an
// ellipse by its centre and radii. It returns false at the first invalid word.
func trace(dc *gg.Context, path string) bool {
	words := strings.Fields(path)
	for len(words) > 0 {
		verb := words[0]
		var a []float64
		for words = words[1:]; len(words) > 0; words = words[1:] {
			number, err := strconv.ParseFloat(words[0], 64)
			if err != nil {
				break
			}
			a = append(a, number)
		}
		switch {
		case verb == "M" && len(a) == 2:
			dc.MoveTo(a[0], a[1])
		case verb == "L" && len(a) == 2:
			dc.LineTo(a[0], a[1])
		case verb == "Q" && len(a) == 4:
			dc.QuadraticTo(a[0], a[1], a[2], a[3])
		case verb == "C" && len(a) == 6:
			dc.CubicTo(a[0], a[1], a[2], a[3], a[4], a[5])
		case verb == "Z" && len(a) == 0:
			dc.ClosePath()
		case verb == "B" && len(a) == 4:
			dc.DrawRectangle(a[0], a[1], a[2]-a[0], a[3]-a[1])
		case verb == "O" && len(a) == 4:
			dc.NewSubPath()
			dc.DrawEllipse(a[0], a[1], a[2], a[3])
		default:
			return false
		}
	}
	return true
}
