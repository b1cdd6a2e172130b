package demo

import (
	"bytes"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"testing"

	"git.sr.ht/~sbinet/gg"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func knownClasses() []class { return slices.Concat(baseClasses, newClasses) }

func allClasses() []class { return append(knownClasses(), unknownClasses...) }

func TestEveryClassDrawsEverySeed(t *testing.T) {
	for _, c := range allClasses() {
		for seed := range uint64(3) {
			data := must.Get(c.render(seed, "probe"))(t)
			img := must.Get(jpeg.Decode(bytes.NewReader(data)))(t)
			colours := map[color.Color]bool{}
			for x := range img.Bounds().Dx() {
				for y := range img.Bounds().Dy() {
					r, g, b, _ := img.At(x, y).RGBA()
					colours[color.RGBA{R: uint8(r >> 12), G: uint8(g >> 12), B: uint8(b >> 12)}] = true
				}
			}
			if len(colours) < 10 {
				t.Errorf("%s, seed %d: %d colours", c.name, seed, len(colours))
			}
		}
	}
}

// A typo in a path would silently leave out a part.
func TestEveryPathIsUnderstood(t *testing.T) {
	for _, c := range allClasses() {
		for _, one := range slices.Concat(c.decor, c.thing) {
			if one.path == "" || !trace(gg.NewContext(1, 1), one.path) {
				t.Errorf("%s: path %q", c.name, one.path)
			}
		}
	}
	for _, wrong := range []string{"M 1", "X 1 2", "Z 1", "M 1 2 3", "B 1 2 3 x", "1 2"} {
		if trace(gg.NewContext(1, 1), wrong) {
			t.Errorf("path %q is accepted", wrong)
		}
	}
}

func TestColour(t *testing.T) {
	for _, c := range []struct {
		colour     colour
		light, dye float64
		want       color.RGBA
	}{
		{colour{0, 1, 1, 0}, 1, 0, color.RGBA{255, 0, 0, 255}},
		{colour{1.0 / 3, 1, 1, 0}, 1, 0, color.RGBA{0, 255, 0, 255}},
		{colour{-1.0 / 3, 1, 1, 0}, 1, 0, color.RGBA{0, 0, 255, 255}},
		{colour{0.4, 0, 0.5, 0}, 1, 0, color.RGBA{128, 128, 128, 255}},
		{colour{1.5, 1, 1, 0}, 1, 0, color.RGBA{0, 255, 255, 255}},
		{colour{0, 1, 0.5, 0}, 0.4, 0, color.RGBA{51, 0, 0, 255}},
		{colour{0.1, 1, 1, 0.1}, 1, -1, color.RGBA{255, 0, 0, 255}},
		{colour{0, 0, 0.9, 0}, 2, 0, color.RGBA{255, 255, 255, 255}},
	} {
		if got := c.colour.rgb(c.light, c.dye); got != c.want {
			t.Errorf("%v under light %v is %v, want %v", c.colour, c.light, got, c.want)
		}
	}
}

func TestPaintCoversItsAreaAndIsCutAtTheEdge(t *testing.T) {
	area := func(one part, at pose) float64 {
		p := newPicture(1, "area")
		p.Context, p.squeeze = gg.NewContext(100, 80), 1
		p.paint(one, at, gg.NewSolidPattern(color.White))
		total := 0.0
		for y := range 80 {
			for x := range 100 {
				_, _, _, a := p.Image().At(x, y).RGBA()
				total += float64(a) / 0xffff
			}
		}
		return total
	}
	for _, c := range []struct {
		what string
		part part
		at   pose
		want float64
	}{
		{"box", part{path: "B -1 -0.5 1 0.5"}, pose{x: 20.5, y: 15.25, size: 10}, 200},
		{"turned box", part{path: "B -1 -0.5 1 0.5"}, pose{x: 40, y: 40, size: 10, turn: 1}, 200},
		{"disc", part{path: "O 0 0 1 1"}, pose{x: 50, y: 40, size: 20}, 400 * math.Pi},
		{"triangle", part{path: "M 0 0 L 1 0 L 0 1 Z"}, pose{x: 40, y: 40, size: 20, flip: true}, 200},
		{"line", part{path: "M -1 0 L 1 0", line: 0.5}, pose{x: 50, y: 40, size: 20}, 400 + 25*math.Pi},
		{"overhanging box", part{path: "B -6 -6 1 1"}, pose{size: 10}, 100},
		{"box outside", part{path: "B 0 0 1 1"}, pose{x: 200, y: 200, size: 10}, 0},
	} {
		if got := area(c.part, c.at); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%s covers %v pixels, want %v", c.what, got, c.want)
		}
	}
}
