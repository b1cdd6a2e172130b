package demo

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// scene is one picture in the making with its own source of randomness.
type scene struct {
	*canvas
	rng *rand.Rand
}

// newScene makes an empty picture whose size, and everything painted later,
// depends on the seed and the name alone.
func newScene(seed uint64, name string) *scene {
	h := fnv.New64a()
	h.Write([]byte(name))
	s := &scene{rng: rand.New(rand.NewPCG(seed, h.Sum64()))}
	long, aspect := s.span(190, 240), s.span(0.7, 1)
	w, h2 := int(long), int(max(160, long*aspect))
	if s.chance(0.35) {
		w, h2 = h2, w
	}
	s.canvas = newCanvas(w, h2)
	return s
}

// span draws a number from [lo, hi).
func (s *scene) span(lo, hi float64) float64 { return lo + (hi-lo)*s.rng.Float64() }

// count draws a whole number from lo to hi inclusive.
func (s *scene) count(lo, hi int) int { return lo + s.rng.IntN(hi-lo+1) }

func (s *scene) chance(p float64) bool { return s.rng.Float64() < p }

func (s *scene) noise() noise { return noise(s.rng.Uint64()) }

// colour draws hue, saturation and value from the given ranges.
func (s *scene) colour(h0, h1, s0, s1, v0, v1 float64) rgb {
	return hsv(s.span(h0, h1), s.span(s0, s1), s.span(v0, v1))
}

// anyColour is a colour of any hue.
func (s *scene) anyColour() rgb { return s.colour(0, 1, 0.15, 0.9, 0.25, 0.95) }

// spot draws a point, keeping the given share of each side free at the edges.
func (s *scene) spot(margin float64) point {
	return point{s.width() * s.span(margin, 1-margin), s.height() * s.span(margin, 1-margin)}
}

// one draws an element.
func one[T any](s *scene, of ...T) T { return of[s.rng.IntN(len(of))] }

// view maps pixels to the coordinates of a surface: turned, scaled, seen a
// little from the side, and slightly warped.
type view struct {
	centre     point
	sin, cos   float64
	cell       float64 // pixels per unit of the surface
	lean       point   // perspective
	shift      point
	warp       float64
	ripple     noise
	rippleSize float64
}

// look draws a view with cells of lo to hi pixels, turned by up to turn
// radians.
func (s *scene) look(lo, hi, turn float64) view {
	angle := s.span(-turn, turn)
	sin, cos := math.Sincos(angle)
	lean := 0.7 / s.side()
	return view{
		centre: point{s.width() / 2, s.height() / 2}, sin: sin, cos: cos,
		cell:  lo * math.Pow(hi/lo, s.rng.Float64()),
		lean:  point{s.span(-lean, lean), s.span(-lean, lean)},
		shift: point{s.span(0, 64), s.span(0, 64)},
		warp:  s.span(0, 0.25), ripple: s.noise(), rippleSize: s.span(2, 5),
	}
}

// at returns the surface coordinates of a pixel.
func (v view) at(x, y float64) (float64, float64) {
	x, y = x-v.centre.x, y-v.centre.y
	depth := max(0.35, 1+x*v.lean.x+y*v.lean.y) * v.cell
	u := (x*v.cos+y*v.sin)/depth + v.shift.x
	w := (y*v.cos-x*v.sin)/depth + v.shift.y
	wave := v.ripple.at(u/v.rippleSize, w/v.rippleSize) - 0.5
	return u + v.warp*wave, w - v.warp*wave
}

// edge is the width of one pixel in surface units, for smooth borders.
func (v view) edge() float64 { return 1.2 / v.cell }
