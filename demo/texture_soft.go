package demo

import "math"

// folds is the light on hanging cloth.
func (s *scene) folds() func(u, w float64) float64 {
	n, deep, size := s.noise(), s.span(0.05, 0.45), s.span(2.5, 7)
	slant := s.span(-1, 1)
	return func(u, w float64) float64 {
		return 1 + deep*2*(n.cloud((u+slant*w)/size, (w-slant*u)/(3*size), 2)-0.5)
	}
}

// polkaDots paints dots on cloth, in a square or a staggered grid.
func polkaDots(s *scene) {
	v, n, fold := s.look(13, 58, 3), s.noise(), s.folds()
	ground, dot := s.colour(0, 1, 0.1, 0.9, 0.3, 0.95), s.anyColour()
	if math.Abs(ground.luma()-dot.luma()) < 0.25 {
		dot = one(s, grey(0.97), grey(0.08))
	}
	radius, stagger, uneven := s.span(0.2, 0.36), float64(s.count(0, 1))*0.5, s.span(0, 0.12)
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		shade := fold(u, w) * (0.94 + 0.12*n.at(u*12, w*12))
		row := math.Floor(w)
		u += stagger * math.Mod(row, 2)
		r := radius + uneven*(n.cell(math.Floor(u), row)-0.5)
		d := math.Hypot(fraction(u)-0.5, fraction(w)-0.5)
		return mix(ground, dot, smoothstep(r+v.edge()/2, r-v.edge()/2, d)).times(shade)
	})
}

// checkedCloth paints gingham, sometimes with a thin third colour as in tartan.
func checkedCloth(s *scene) {
	v, n, fold := s.look(9, 44, 3), s.noise(), s.folds()
	ground := one(s, grey(0.95), s.colour(0.08, 0.16, 0.05, 0.3, 0.85, 0.97))
	thread := s.colour(0, 1, 0.55, 0.95, 0.25, 0.8)
	extra := s.anyColour()
	tartan := s.chance(0.35)
	band := func(t float64) float64 {
		return smoothstep(-v.edge()/2, v.edge()/2, 0.25-math.Abs(fraction(t)-0.5))
	}
	line := func(t float64) float64 { return smoothstep(0.06+v.edge(), 0.05, math.Abs(fraction(t)-0.03)) }
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		weave := 0.9 + 0.2*n.at(u*18, w*18)
		c := mix(ground, thread, 0.5*band(u/2)+0.5*band(w/2))
		if tartan {
			c = mix(c, extra, 0.45*(line(u/2)+line(w/2)))
		}
		return c.times(weave * fold(u, w))
	})
}

// zebraStripes paints a striped hide.
func zebraStripes(s *scene) {
	v, n := s.look(10, 46, 3), s.noise()
	pale := s.colour(0.06, 0.14, 0, 0.25, 0.8, 0.98)
	dark := s.colour(0, 0.1, 0, 0.5, 0.04, 0.2)
	wander, branch, body := s.span(0.8, 2.2), s.span(0.15, 0.5), s.span(0.1, 0.5)
	share, size := s.span(-0.25, 0.25), s.span(3, 6)
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		phase := u/1.3 + wander*(n.cloud(u/size, w/size, 2)-0.5)*3
		split := branch * math.Sin(w*0.9+9*n.at(u/4, w/5))
		wave := math.Sin(2*math.Pi*phase) + split + share
		soft := 0.12 + 2*v.edge()
		hair := 0.9 + 0.2*n.cloud(u*14, w*3, 2)
		round := 1 + body*2*(n.at(u/7+9, w/7)-0.5)
		return mix(pale, dark, smoothstep(-soft, soft, wave)).times(hair * round)
	})
}

// sea paints waves rolling towards the shore, sometimes with the horizon.
func sea(s *scene) {
	n := s.noise()
	deep := s.colour(0.5, 0.62, 0.4, 0.9, 0.2, 0.55)
	crest := mix(deep, s.colour(0.45, 0.55, 0.05, 0.4, 0.8, 1), 0.75)
	low, high := s.sky()
	horizon, tilt := s.height()*s.span(-0.4, 0.38), s.span(-0.08, 0.08)
	swell, foam, steep := s.span(9, 22), s.span(0.62, 0.8), s.span(0.5, 1.4)
	s.cover(func(x, y float64) rgb {
		d := y + tilt*(x-s.width()/2) - horizon
		if d < 0 {
			return mix(low, high, clamp01(-d/s.side()*1.3))
		}
		near := 0.25 + d/s.side()
		u, w := (x-s.width()/2)/near/swell, swell*0.9*math.Log(near)
		w += steep * 2 * (n.cloud(u*0.25, w*0.3, 2) - 0.5)
		roll := fraction(w + 0.3*n.at(u*0.7, w))
		chop := n.cloud(u*0.8, w*2.4, 3)
		c := mix(deep, crest, clamp01(0.75*math.Pow(roll, 2.2)+0.7*(chop-0.4)))
		white := smoothstep(foam, foam+0.12, roll*0.55+chop*0.62)
		return mix(mix(c, grey(0.96), white), low, 0.5*math.Exp(-d/14))
	})
}

// sky draws the colours of the sky at the horizon and above.
func (s *scene) sky() (low, high rgb) {
	switch s.count(0, 3) {
	case 0:
		return s.colour(0.02, 0.12, 0.4, 0.8, 0.85, 1), s.colour(0.6, 0.8, 0.2, 0.5, 0.35, 0.7)
	case 1:
		return grey(s.span(0.7, 0.9)), grey(s.span(0.5, 0.75))
	default:
		return s.colour(0.5, 0.58, 0.05, 0.3, 0.85, 1), s.colour(0.54, 0.62, 0.4, 0.8, 0.6, 0.95)
	}
}

// nightSky paints stars, the Milky Way, and often a dark horizon.
func nightSky(s *scene) {
	n := s.noise()
	top := s.colour(0.58, 0.75, 0.5, 0.95, 0.04, 0.18)
	glow := s.colour(0.45, 0.95, 0.2, 0.7, 0.15, 0.5)
	dir, across := polar(1, s.span(0, 3.1)), s.span(0.15, 0.45)*s.side()
	milk := s.span(0, 0.6)
	s.cover(func(x, y float64) rgb {
		d := (x-s.width()/2)*dir.x + (y-s.height()/2)*dir.y
		band := milk * math.Exp(-d*d/(across*across)) * n.cloud(x/30, y/30, 4) * 1.6
		c := mix(top, glow, 0.5*math.Pow(y/s.height(), 2.5))
		return c.plus(mix(glow, grey(0.8), 0.5).times(band))
	})
	s.stars()
	if s.chance(0.3) {
		s.moon()
	}
	if s.chance(0.5) {
		s.ridge(s.span(0.7, 0.92), 0.2, grey(s.span(0.005, 0.05)))
	}
}

func (s *scene) stars() {
	for range s.count(90, 420) {
		r := 0.35 + 1.5*math.Pow(s.rng.Float64(), 5)
		at, c := s.spot(0), mix(grey(1), s.colour(0, 1, 0.2, 0.5, 1, 1), 0.5)
		s.glaze(disc(at, r+0.25), s.span(0.4, 1), flat(c))
		if r > 1.3 {
			s.glaze(disc(at, r*3), 0.12, flat(c))
		}
	}
}

func (s *scene) moon() {
	at, r, n := s.spot(0.2), s.side()*s.span(0.05, 0.1), s.noise()
	s.glaze(disc(at, r*1.6), 0.12, flat(grey(0.9)))
	s.fill(disc(at, r), func(x, y float64) rgb {
		return rgb{1, 0.97, 0.88}.times(0.75 + 0.3*n.cloud(x/r*2, y/r*2, 2))
	})
}

// ridge fills the picture below a rolling line at the given share of the
// height.
func (s *scene) ridge(at, rough float64, c rgb) {
	n, step := s.noise(), s.span(25, 70)
	line := curve(60, func(t float64) point {
		x := t*(s.width()+20) - 10
		return point{x, s.height() * (at + rough*(n.cloud(x/step, 1, 4)-0.5))}
	})
	line = append(line, point{s.width() + 10, s.height() + 10}, point{-10, s.height() + 10})
	s.fill(line, s.shaded(c))
}
