package demo

import "math"

// rgb is a colour with components nominally in 0–1; light may push it beyond
// until the picture is developed.
type rgb struct{ r, g, b float64 }

// A paint gives the colour at a pixel position.
type paint func(x, y float64) rgb

func flat(c rgb) paint { return func(_, _ float64) rgb { return c } }

func (c rgb) times(k float64) rgb { return rgb{c.r * k, c.g * k, c.b * k} }

func (c rgb) plus(o rgb) rgb { return rgb{c.r + o.r, c.g + o.g, c.b + o.b} }

func (c rgb) luma() float64 { return 0.299*c.r + 0.587*c.g + 0.114*c.b }

func mix(a, b rgb, t float64) rgb { return a.times(1 - t).plus(b.times(t)) }

func grey(v float64) rgb { return rgb{v, v, v} }

// hsv converts hue (in turns, any real), saturation and value to rgb.
func hsv(h, s, v float64) rgb {
	wheel := func(shift float64) float64 {
		k := math.Mod(math.Mod(h*6+shift, 6)+6, 6)
		return v - v*s*clamp01(min(k, 4-k))
	}
	return rgb{wheel(5), wheel(3), wheel(1)}
}

func clamp01(v float64) float64 { return max(0, min(1, v)) }

// smoothstep rises from 0 at lo to 1 at hi; lo may be greater than hi.
func smoothstep(lo, hi, v float64) float64 {
	t := clamp01((v - lo) / (hi - lo))
	return t * t * (3 - 2*t)
}

// fraction is v minus its floor.
func fraction(v float64) float64 { return v - math.Floor(v) }
