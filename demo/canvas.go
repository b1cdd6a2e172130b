package demo

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"golang.org/x/image/vector"
)

// canvas is a picture in the making, row by row.
type canvas struct {
	w, h   int
	pixels []rgb
}

func newCanvas(w, h int) *canvas {
	return &canvas{w: w, h: h, pixels: make([]rgb, w*h)}
}

func (c *canvas) width() float64  { return float64(c.w) }
func (c *canvas) height() float64 { return float64(c.h) }

// side is the shorter side in pixels, the natural unit of a scene.
func (c *canvas) side() float64 { return float64(min(c.w, c.h)) }

// cover paints every pixel.
func (c *canvas) cover(p paint) {
	for i := range c.pixels {
		c.pixels[i] = p(float64(i%c.w), float64(i/c.w))
	}
}

// adjust replaces every pixel by a function of its position and colour.
func (c *canvas) adjust(f func(x, y float64, old rgb) rgb) {
	for i, old := range c.pixels {
		c.pixels[i] = f(float64(i%c.w), float64(i/c.w), old)
	}
}

// fill paints the inside of a shape with smooth edges.
func (c *canvas) fill(s shape, p paint) { c.glaze(s, 1, p) }

// glaze is fill with the given opacity.
func (c *canvas) glaze(s shape, opacity float64, p paint) {
	m := c.coverage(s, 0)
	for i, a := range m.alpha {
		if a == 0 {
			continue
		}
		x, y := m.x0+i%m.w, m.y0+i/m.w
		at := &c.pixels[y*c.w+x]
		*at = mix(*at, p(float64(x), float64(y)), opacity*float64(a)/255)
	}
}

// shadow darkens what lies under a shape, softened over blur pixels.
func (c *canvas) shadow(s shape, blur int, strength float64) {
	m := c.coverage(s, 2*blur)
	soft := make([]rgb, len(m.alpha))
	for i, a := range m.alpha {
		soft[i].r = float64(a) / 255
	}
	boxBlur(soft, m.w, m.h, blur)
	for i := range soft {
		at := &c.pixels[(m.y0+i/m.w)*c.w+m.x0+i%m.w]
		*at = at.times(1 - strength*soft[i].r)
	}
}

// mask is the coverage of a shape over a rectangle of the canvas.
type mask struct {
	x0, y0, w, h int
	alpha        []uint8
}

// coverage rasterises a shape over its bounding box, grown by margin pixels
// and cut to the canvas.
func (c *canvas) coverage(s shape, margin int) mask {
	lo, hi := s.bounds()
	box := image.Rect(int(math.Floor(lo.x)), int(math.Floor(lo.y)), int(math.Ceil(hi.x))+1, int(math.Ceil(hi.y))+1)
	box = box.Inset(-margin).Intersect(image.Rect(0, 0, c.w, c.h))
	if box.Empty() || len(s) < 3 {
		return mask{w: 1}
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for i, p := range s {
		x, y := float32(p.x-float64(box.Min.X)), float32(p.y-float64(box.Min.Y))
		if i == 0 {
			r.MoveTo(x, y)
		} else {
			r.LineTo(x, y)
		}
	}
	r.ClosePath()
	a := image.NewAlpha(image.Rect(0, 0, box.Dx(), box.Dy()))
	r.Draw(a, a.Rect, image.Opaque, image.Point{})
	return mask{x0: box.Min.X, y0: box.Min.Y, w: box.Dx(), h: box.Dy(), alpha: a.Pix}
}

// blur softens the whole picture over about radius pixels.
func (c *canvas) blur(radius int) { boxBlur(c.pixels, c.w, c.h, radius) }

// boxBlur averages twice along rows and columns, which comes close to a
// Gaussian. Edges are extended.
func boxBlur(p []rgb, w, h, radius int) {
	if radius <= 0 || len(p) == 0 {
		return
	}
	line := make([]rgb, max(w, h))
	for range 2 {
		for y := range h {
			blurLine(p[y*w:], 1, line[:w], radius)
		}
		for x := range w {
			blurLine(p[x:], w, line[:h], radius)
		}
	}
}

// blurLine averages len(line) pixels of p, stride apart, in place.
func blurLine(p []rgb, stride int, line []rgb, radius int) {
	n := len(line)
	for i := range line {
		line[i] = p[i*stride]
	}
	var sum rgb
	for i := -radius; i <= radius; i++ {
		sum = sum.plus(line[min(max(i, 0), n-1)])
	}
	k := 1 / float64(2*radius+1)
	for i := range line {
		p[i*stride] = sum.times(k)
		sum = sum.plus(line[min(i+radius+1, n-1)]).plus(line[max(i-radius, 0)].times(-1))
	}
}

// jpeg encodes the picture.
func (c *canvas) jpeg(quality int) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, c.w, c.h))
	for i, p := range c.pixels {
		img.SetRGBA(i%c.w, i/c.w, color.RGBA{R: level(p.r), G: level(p.g), B: level(p.b), A: 255})
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode JPEG: %w", err)
	}
	return out.Bytes(), nil
}

func level(v float64) uint8 { return uint8(255*clamp01(v) + 0.5) }
