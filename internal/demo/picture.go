package demo

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/draw"
)

// picture is a drawing with its own source of randomness.
type picture struct {
	*gg.Context
	rng     *rand.Rand
	w, h    float64
	dye     float64 // how far the hues stray, -1 to 1
	squeeze float64 // factor on the height of things
	shadow  pair    // offset in pixels
}

// render draws the picture of a class with the given name and returns its JPEG
// file, which depends only on the arguments.
func (c class) render(seed uint64, name string) ([]byte, error) {
	p := newPicture(seed, name)
	p.backdrop(c)
	if c.step[1] > 0 {
		p.cover(c)
	} else {
		p.scatter(c)
	}
	p.expose()
	var out bytes.Buffer
	err := jpeg.Encode(&out, p.Image(), &jpeg.Options{Quality: 70 + p.rng.IntN(25)})
	return out.Bytes(), err
}

func newPicture(seed uint64, name string) *picture {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	p := &picture{rng: rand.New(rand.NewPCG(seed, hash.Sum64()))}
	w, h := 160+p.rng.IntN(80), 160+p.rng.IntN(80)
	p.Context, p.w, p.h = gg.NewContext(w, h), float64(w), float64(h)
	p.dye, p.squeeze = p.span(-1, 1), p.span(0.8, 1.2)
	p.shadow = pair{p.span(-2, 2), p.span(0.5, 2)}
	return p
}

// span draws a number from [lo, hi).
func (p *picture) span(lo, hi float64) float64 { return lo + (hi-lo)*p.rng.Float64() }

// backdrop draws sky, decor and land.
func (p *picture) backdrop(c class) {
	all := append([]part{{path: "B -3 -3 3 3", colour: c.sky}}, c.decor...)
	if c.land != (colour{}) {
		all = append(all, part{path: "M -3 0.2 Q -0.8 0 0 0.25 Q 0.8 0.5 3 0.2 L 3 3 L -3 3 Z", colour: c.land})
	}
	p.draw(all, pose{
		x: p.w * p.span(0.35, 0.65), y: p.h * p.span(0.4, 0.6), size: max(p.w, p.h) / 2,
		turn: p.span(-0.05, 0.05), flip: p.rng.IntN(2) == 0,
	}, p.span(0.85, 1.1))
}

// cover repeats the thing across the whole picture, row by row from the bottom.
func (p *picture) cover(c class) {
	size, turn := min(p.w, p.h)*p.span(c.size[0], c.size[1]), p.span(-c.turn, c.turn)
	sin, cos := math.Sincos(turn)
	dx, dy := c.step[0]*size, c.step[1]*size*p.squeeze
	reach := math.Hypot(p.w, p.h)/2 + 2*size
	for row := int(reach / dy); float64(row)*dy >= -reach; row-- {
		for column := -int(reach / dx); float64(column)*dx <= reach; column++ {
			x, y := (float64(column)+c.shift*float64(row&1))*dx, float64(row)*dy
			at := pose{x: p.w/2 + x*cos - y*sin, y: p.h/2 + x*sin + y*cos, size: size, turn: turn}
			p.draw(c.thing, at, p.span(1-c.uneven, 1+c.uneven))
		}
	}
}

// scatter draws a few things. Steps of the golden ratio keep them apart.
func (p *picture) scatter(c class) {
	size, across := min(p.w, p.h)*p.span(c.size[0], c.size[1]), p.rng.Float64()
	for range c.number[0] + p.rng.IntN(c.number[1]-c.number[0]+1) {
		across = math.Mod(across+math.Phi, 1)
		at := pose{
			x: size + across*(p.w-2*size), y: p.h * p.span(c.band[0], c.band[1]),
			size: size * p.span(0.85, 1.15), turn: p.span(-c.turn, c.turn), flip: p.rng.IntN(2) == 0,
		}
		p.draw(c.thing, at, p.span(1-c.uneven, 1+c.uneven))
	}
}

// expose adds effects of light and camera: mottled surfaces, brightness that
// falls off to one side, a tint, and grain.
func (p *picture) expose() {
	img := p.Image().(*image.RGBA)
	mottle := p.clouds()
	dx, dy := p.span(-0.3, 0.3)/p.w, p.span(-0.3, 0.3)/p.h
	tint := [3]float64{p.span(0.9, 1.1), 1, p.span(0.9, 1.1)}
	bright, grain := p.span(0.8, 1.1), p.span(2, 10)
	for i, m := range mottle.Pix {
		x, y := float64(i%p.Width())-p.w/2, float64(i/p.Width())-p.h/2
		light := bright * (1 + x*dx + y*dy) * (0.85 + 0.3*float64(m)/255)
		speck := grain * (p.rng.Float64() + p.rng.Float64() - 1)
		for k, t := range tint {
			v := float64(img.Pix[4*i+k])*light*t + speck
			img.Pix[4*i+k] = uint8(max(0, min(255, v)))
		}
	}
}

// clouds returns soft grey noise of the size of the picture: random pixels at
// three scales, enlarged and averaged.
func (p *picture) clouds() *image.Gray {
	out := image.NewGray(p.Image().Bounds())
	fine := image.NewGray(out.Rect)
	for _, cells := range []int{4, 12, 50} {
		coarse := image.NewGray(image.Rect(0, 0, cells, cells))
		for i := range coarse.Pix {
			coarse.Pix[i] = uint8(p.rng.IntN(256))
		}
		draw.CatmullRom.Scale(fine, fine.Rect, coarse, coarse.Rect, draw.Src, nil)
		for i, v := range fine.Pix {
			out.Pix[i] += v / 3
		}
	}
	return out
}

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
