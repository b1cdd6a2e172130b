package demo

import "math"

// photograph finishes a painted scene: things in the way, light, focus, grain,
// and compression. It returns the JPEG file.
func (s *scene) photograph() ([]byte, error) {
	s.clutter()
	s.light()
	if s.chance(0.25) {
		s.blur(s.count(1, 2))
	}
	s.develop()
	return s.jpeg(s.count(45, 93))
}

// clutter puts a few unrelated things in front.
func (s *scene) clutter() {
	if s.chance(0.4) {
		return
	}
	for range s.count(1, 4) {
		switch {
		case s.chance(0.12):
			s.leaf(pose{at: s.spot(-0.05), size: s.side() * s.span(0.1, 0.24), turn: s.span(0, 6.3)})
		case s.chance(0.08):
			s.coin(pose{at: s.spot(-0.05), size: s.side() * s.span(0.06, 0.12)}, s.span(0, 0.4))
		default:
			outline := s.debris()
			s.shadow(outline.shifted(2, 3), 3, 0.35)
			s.fill(outline, s.shaded(s.anyColour()))
		}
	}
}

// debris is the outline of something nobody asked for.
func (s *scene) debris() shape {
	at, size := s.spot(-0.05), s.side()*s.span(0.06, 0.19)
	switch s.count(0, 3) {
	case 0:
		return s.blob(at, size)
	case 1:
		p := pose{at: at, size: size, turn: s.span(0, 6)}
		return p.place(rectangle(-1, -0.6, 1, 0.6))
	case 2:
		return disc(at, size*0.8)
	default:
		far := at.plus(polar(s.side()*s.span(0.5, 1.3), s.span(0, 6.3)))
		return stroke(bend(at, s.spot(0), far), size*0.25, size*0.2)
	}
}

// blob is a rounded irregular outline.
func (s *scene) blob(at point, size float64) shape {
	n, lobes := s.noise(), s.span(1, 2)
	return curve(40, func(t float64) point {
		d := polar(1, 2*math.Pi*t)
		return at.plus(d.times(size * (0.6 + 0.8*n.at(5+lobes*d.x, 5+lobes*d.y))))
	})
}

// shaded is a colour with a soft gradient and a little dirt.
func (s *scene) shaded(c rgb) paint {
	n, dir := s.noise(), polar(s.span(0.1, 0.35)/s.side(), s.span(0, 6.3))
	return func(x, y float64) rgb {
		k := 1 + (x-s.width()/2)*dir.x + (y-s.height()/2)*dir.y
		return c.times(k * (0.9 + 0.2*n.cloud(x/9, y/9, 2)))
	}
}

// light adds a direction, a colour temperature, a vignette, and sometimes a
// cast shadow.
func (s *scene) light() {
	slope := polar(s.span(0, 0.5)/s.side(), s.span(0, 6.3))
	tint := rgb{1 + s.span(-0.12, 0.15), 1, 1 + s.span(-0.2, 0.15)}.times(s.span(0.75, 1.25))
	vignette := s.span(0, 0.35) / (s.width()*s.width() + s.height()*s.height()) * 4
	cast := s.castShadow()
	s.adjust(func(x, y float64, c rgb) rgb {
		dx, dy := x-s.width()/2, y-s.height()/2
		k := (1 + dx*slope.x + dy*slope.y) * (1 - vignette*(dx*dx+dy*dy)) * cast(x, y)
		return rgb{c.r * tint.r * k, c.g * tint.g * k, c.b * tint.b * k}
	})
}

// castShadow is the shade of something outside the picture: a straight edge or
// foliage, mostly none.
func (s *scene) castShadow() func(x, y float64) float64 {
	n, dark := s.noise(), s.span(0.45, 0.8)
	dir, offset := polar(1, s.span(0, 6.3)), s.span(-0.3, 0.5)*s.side()
	switch {
	case s.chance(0.14):
		return func(x, y float64) float64 {
			d := (x-s.width()/2)*dir.x + (y-s.height()/2)*dir.y - offset
			return 1 - (1-dark)*smoothstep(-5, 5, d)
		}
	case s.chance(0.12):
		return func(x, y float64) float64 {
			return 1 - (1-dark)*smoothstep(0.5, 0.6, n.cloud(x/40, y/40, 3))
		}
	default:
		return func(_, _ float64) float64 { return 1 }
	}
}

// develop applies contrast, saturation and sensor grain.
func (s *scene) develop() {
	contrast, saturation := s.span(0.8, 1.15), s.span(0.7, 1.15)
	if s.chance(0.07) {
		saturation = s.span(0, 0.25)
	}
	grain := s.span(0.004, 0.045)
	s.adjust(func(_, _ float64, c rgb) rgb {
		l := c.luma()
		c = mix(grey(l), c, saturation)
		speck := grain * (s.rng.Float64() + s.rng.Float64() - 1) * 1.6
		return mix(grey(0.45), c, contrast).plus(grey(speck))
	})
}
