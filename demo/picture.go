package demo

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"

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
