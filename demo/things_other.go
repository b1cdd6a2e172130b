package demo

import "math"

// house paints a house with a gable roof in a landscape.
func house(s *scene) {
	s.land()
	wide := s.side() * s.span(0.28, 0.8)
	foot := point{s.width() * s.span(0.35, 0.65), s.height() * s.span(0.75, 0.93)}
	p := pose{at: foot, size: wide / 2, turn: s.span(-0.06, 0.06), flip: s.chance(0.5)}
	s.facade(p)
	for range s.count(0, 4) {
		bush := point{s.width() * s.span(0, 1), foot.y + s.span(-2, 10)}
		s.fill(s.blob(bush, s.side()*s.span(0.04, 0.1)), s.shaded(s.colour(0.2, 0.38, 0.3, 0.8, 0.2, 0.5)))
	}
}

// facade draws walls of width 2 standing on the pose's origin.
func (s *scene) facade(p pose) {
	wall := s.shaded(s.colour(0, 1, 0.03, 0.5, 0.6, 0.97))
	roof := s.colour(-0.05, 0.1, 0.2, 0.8, 0.25, 0.65)
	tall, peak, eaves := s.span(0.7, 1.3), s.span(0.45, 1), s.span(0.08, 0.25)
	x := s.span(-0.6, 0.6)
	s.fill(p.place(rectangle(x-0.1, -tall-peak*0.95, x+0.12, -tall)), s.shaded(roof.times(0.8)))
	s.shadow(p.place(rectangle(-1, -tall*0.3, 1.15, 0.06)), 4, 0.4)
	s.fill(p.place(rectangle(-1, -tall, 1, 0)), wall)
	gable := shape{{-1 - eaves, -tall + 0.05}, {0, -tall - peak}, {1 + eaves, -tall + 0.05}}
	if s.chance(0.5) {
		gable = shape{{-1 - eaves, -tall + 0.05}, {-0.7, -tall - peak}, {0.7, -tall - peak}, {1 + eaves, -tall + 0.05}}
	}
	rows := s.noise()
	s.fill(p.place(gable), func(x, y float64) rgb {
		q := p.invert(x, y)
		return roof.times(0.8 + 0.3*fraction(q.y*9) + 0.3*(rows.at(x/5, y/5)-0.5))
	})
	s.shadow(p.place(rectangle(-1, -tall, 1, -tall+0.08)), 2, 0.4)
	s.openings(p, tall)
}

// openings puts in a door and windows.
func (s *scene) openings(p pose, tall float64) {
	door := s.span(-0.25, 0.25)
	s.window(p, door-0.16, -0.62, door+0.16, 0, s.anyColour())
	glass := s.colour(0.1, 0.6, 0.1, 0.5, 0.25, 0.95)
	floors := 1 + s.rng.IntN(2)
	for f := range floors {
		top := -tall + 0.15 + float64(f)*(tall-0.1)/float64(floors)
		for _, x := range [2]float64{-0.72, 0.42} {
			s.window(p, x, top, x+0.32, top+min(0.36, tall/float64(floors)*0.6), glass)
		}
	}
}

func (s *scene) window(p pose, x0, y0, x1, y1 float64, c rgb) {
	s.fill(p.place(rectangle(x0-0.04, y0-0.04, x1+0.04, y1+0.02)), flat(grey(0.93)))
	s.fill(p.place(rectangle(x0, y0, x1, y1)), s.shaded(c))
	mid := (x0 + x1) / 2
	s.fill(p.place(rectangle(mid-0.015, y0, mid+0.015, y1)), flat(grey(0.9)))
}

// fire paints flames, in the dark more often than not.
func fire(s *scene) {
	if s.chance(0.65) {
		s.cover(s.shaded(s.colour(0.6, 1.1, 0.1, 0.5, 0.03, 0.15)))
	} else {
		s.backdrop()
		s.adjust(func(_, _ float64, c rgb) rgb { return c.times(0.35) })
	}
	s.logs()
	n, centre, base := s.noise(), s.width()*s.span(0.35, 0.65), s.height()*s.span(0.78, 0.98)
	tall, wide := s.height()*s.span(0.35, 0.85), s.width()*s.span(0.14, 0.42)
	lick, ragged := s.span(16, 30), s.span(0.7, 1.3)
	s.adjust(func(x, y float64, c rgb) rgb {
		up := (base - y) / tall
		sway := (n.at(x/60, y/45+3) - 0.5) * wide * max(0, up)
		across := (x - centre + sway) / (wide * (1.1 - 0.65*max(0, up)))
		tongue := n.cloud(x/lick, y/lick/2.2+20, 4) - 0.5
		heat := 1.05 - up*0.85 - across*across + ragged*tongue*(0.9+0.8*up) - 4*max(0, -up)
		glow := 0.25 * math.Exp(-across*across*0.5-max(0, up*up))
		return flame(c.plus(rgb{1, 0.4, 0.1}.times(glow)), heat)
	})
	s.sparks(centre, base, tall)
}

// flame lays the colour of a given heat over what is behind.
func flame(behind rgb, heat float64) rgb {
	c := mix(rgb{0.75, 0.1, 0.02}, rgb{1, 0.5, 0.05}, smoothstep(0.25, 0.5, heat))
	c = mix(c, rgb{1, 0.85, 0.3}, smoothstep(0.45, 0.8, heat))
	c = mix(c, rgb{1, 0.98, 0.85}, smoothstep(0.8, 1.15, heat))
	return mix(behind, c, smoothstep(0.15, 0.4, heat))
}

func (s *scene) logs() {
	for range s.count(0, 4) {
		a := point{s.width() * s.span(0.15, 0.5), s.height() * s.span(0.82, 0.97)}
		b := a.plus(point{s.width() * s.span(0.25, 0.5), s.span(-20, 20)})
		s.fill(stroke(shape{a, b}, s.side()*0.09, s.side()*0.08), s.shaded(s.colour(0.03, 0.1, 0.3, 0.6, 0.12, 0.3)))
	}
}

func (s *scene) sparks(centre, base, tall float64) {
	for range s.count(0, 30) {
		at := point{centre + s.span(-0.4, 0.4)*tall, base - tall*s.span(0.2, 1.3)}
		s.glaze(disc(at, s.span(0.5, 1.6)), s.span(0.3, 1), flat(rgb{1, 0.7, 0.25}))
	}
}
