package demo

import "math"

// flowers paints one to a few blossoms.
func flowers(s *scene) {
	if s.chance(0.5) {
		s.foliage()
	} else {
		s.backdrop()
	}
	petal, heart := s.colour(0.75, 1.15, 0.2, 0.9, 0.75, 1), s.colour(0.05, 0.16, 0.6, 1, 0.3, 0.9)
	n, petals := one(s, 1, 1, 2, 4), s.count(5, 14)
	for range n {
		size := s.side() * s.span(0.2, 0.5) / math.Sqrt(float64(n))
		p := pose{at: s.spot(0.28), size: size, turn: s.span(0, 6.3), foreshorten: s.span(0, 0.4)}
		s.stalk(p)
		s.blossom(p, petals, petal, heart)
	}
}

func (s *scene) stalk(p pose) {
	foot := point{p.at.x + s.span(-0.2, 0.2)*s.width(), s.height() + 10}
	path := bend(p.at, point{p.at.x, (p.at.y + foot.y) / 2}, foot)
	s.fill(stroke(path, p.size*0.07, p.size*0.12), s.shaded(s.colour(0.22, 0.36, 0.4, 0.8, 0.25, 0.5)))
}

func (s *scene) blossom(p pose, petals int, c, heart rgb) {
	wide, pointed := s.span(1.1, 1.9)*math.Pi/float64(petals), s.span(0.4, 1.1)
	one := curve(24, func(t float64) point {
		a := math.Pi * (2*t - 1)
		long := 0.5 + 0.5*math.Cos(a)
		return point{0.1 + 0.9*long, math.Sin(a) * wide * 0.55 * math.Pow(long+0.05, pointed*0.5)}
	})
	for i := range petals {
		q, shade := p, s.span(0.82, 1.1)
		turn := 2*math.Pi*float64(i)/float64(petals) + s.span(-0.08, 0.08)
		outline := q.place(one.mapped(func(v point) point {
			return point{v.x*math.Cos(turn) - v.y*math.Sin(turn), v.x*math.Sin(turn) + v.y*math.Cos(turn)}
		}))
		s.shadow(outline.shifted(1.5, 2), 2, 0.3)
		s.fill(outline, func(x, y float64) rgb {
			v := p.invert(x, y)
			return c.times(shade * (0.62 + 0.45*math.Hypot(v.x, v.y)))
		})
	}
	seeds := s.noise()
	s.fill(p.place(disc(point{}, s.span(0.2, 0.34))), func(x, y float64) rgb {
		return heart.times(0.6 + 0.9*seeds.at(x/2, y/2))
	})
}

// fish paints one or a few fish in water or on a plate.
func fish(s *scene) {
	if s.chance(0.75) {
		s.water()
	} else {
		s.backdrop() // on the market stall
	}
	n := one(s, 1, 1, 1, 2, 4)
	body, belly := s.anyColour(), s.colour(0, 1, 0.05, 0.4, 0.7, 1)
	flip := s.chance(0.5)
	for range n {
		p := pose{at: s.spot(0.3), size: s.side() * s.span(0.18, 0.42) / math.Pow(float64(n), 0.4), turn: s.span(-0.5, 0.5), flip: flip}
		s.oneFish(p, body, belly)
	}
}

// water is lit from above, with weed and bubbles.
func (s *scene) water() {
	n, top := s.noise(), s.colour(0.42, 0.62, 0.3, 0.8, 0.55, 0.95)
	deep := top.times(s.span(0.25, 0.6))
	s.cover(func(x, y float64) rgb {
		ray := smoothstep(0.5, 0.8, n.cloud((x+y*0.4)/26, y/150, 2))
		return mix(top, deep, y/s.height()).times(0.9 + 0.35*ray*(1-y/s.height()))
	})
	for range s.count(0, 5) {
		foot := point{s.width() * s.span(0, 1), s.height() + 5}
		tip := foot.plus(point{s.span(-40, 40), -s.height() * s.span(0.2, 0.6)})
		c := s.colour(0.2, 0.45, 0.3, 0.8, 0.15, 0.5)
		s.fill(stroke(bend(foot, s.spot(0.3), tip), 9, 2), s.shaded(c))
	}
	for range s.count(0, 14) {
		s.glaze(disc(s.spot(0), s.span(1, 4)), 0.35, flat(grey(1)))
	}
}

func (s *scene) oneFish(p pose, body, belly rgb) {
	deep, fork := s.span(0.32, 0.62), s.span(0.25, 0.5)
	back := curve(40, func(t float64) point {
		x := 2*t - 1
		return point{x, -deep * math.Pow(math.Sin(math.Pi*math.Pow(t, 0.8)), 0.9)}
	})
	outline := append(shape{}, back...)
	for i := len(back) - 1; i >= 0; i-- {
		outline = append(outline, point{back[i].x, -back[i].y * 0.9})
	}
	fin := s.shaded(mix(body, s.anyColour(), 0.4).times(0.85))
	s.fill(p.place(shape{{0.8, 0}, {1.5, -fork}, {1.32, 0}, {1.5, fork}}), fin)
	s.fill(p.place(shape{{-0.45, -deep * 0.8}, {-0.1, -deep * 1.55}, {0.55, -deep * 1.2}, {0.6, -deep * 0.4}}), fin)
	s.fill(p.place(shape{{-0.1, deep * 0.7}, {0.25, deep * 1.4}, {0.4, deep * 0.6}}), fin)
	s.fill(p.place(outline), s.scales(p, body, belly, deep))
	s.fill(p.place(shape{{-0.25, 0.05}, {0.15, 0.02}, {0.2, 0.28}}), fin)
	s.fill(p.place(disc(point{-0.66, -0.1 * deep}, 0.11)), flat(grey(0.95)))
	s.fill(p.place(disc(point{-0.67, -0.1 * deep}, 0.06)), flat(grey(0.05)))
	s.fill(stroke(p.place(bend(point{-0.45, -deep * 0.5}, point{-0.3, 0}, point{-0.45, deep * 0.5})), 1.5, 1.5), flat(body.times(0.5)))
}

// scales paints the side of a fish, plain or in bars.
func (s *scene) scales(p pose, body, belly rgb, deep float64) paint {
	bars, bar := float64(s.count(0, 5)), mix(body, s.anyColour(), 0.8)
	size := s.span(9, 16)
	return func(x, y float64) rgb {
		q := p.invert(x, y)
		c := mix(body, belly, smoothstep(-0.2, 0.9, q.y/deep))
		if bars > 0 {
			c = mix(c, bar, 0.8*smoothstep(0.1, 0.3, math.Sin(q.x*bars*math.Pi)-0.4))
		}
		_, _, edge, _, _ := hexagon(q.x*size, q.y*size)
		return c.times(0.8 + 0.5*min(edge, 0.4) + 0.25*(0.3-q.y/deep))
	}
}

// mushrooms paints one to a few toadstools on the forest floor.
func mushrooms(s *scene) {
	s.backdrop()
	s.ridge(s.span(0.7, 0.85), 0.1, s.colour(0.05, 0.3, 0.3, 0.7, 0.15, 0.4))
	cap := s.colour(-0.04, 0.12, 0.3, 0.95, 0.45, 0.9)
	spotted := s.chance(0.6)
	for range one(s, 1, 1, 2, 3) {
		size := s.side() * s.span(0.13, 0.36)
		at := point{s.width() * s.span(0.2, 0.8), s.height()*s.span(0.8, 0.95) - size}
		s.mushroom(pose{at: at, size: size, turn: s.span(-0.25, 0.25)}, cap, spotted)
	}
}

func (s *scene) mushroom(p pose, c rgb, spotted bool) {
	pale := s.colour(0.08, 0.14, 0.03, 0.25, 0.75, 0.95)
	stem := stroke(p.place(bend(point{0, 0}, point{s.span(-0.1, 0.1), 0.5}, point{0, 1.05})), p.size*s.span(0.3, 0.45), p.size*s.span(0.4, 0.6))
	s.fill(stem, s.rounded(p, pale, 0.4))
	tall, droop := s.span(0.5, 1), s.span(0.05, 0.3)
	dome := curve(40, func(t float64) point {
		a := math.Pi * t
		return point{-math.Cos(a), -tall * math.Pow(math.Sin(a), 0.8)}
	})
	dome = append(dome, bend(point{1, 0}, point{0, droop}, point{-1, 0})...)
	s.shadow(p.place(dome).shifted(0, 4), 3, 0.4)
	s.fill(p.place(dome), s.rounded(p, c, 1))
	if !spotted {
		return
	}
	for range s.count(5, 13) {
		x := s.span(-0.8, 0.8)
		y := -s.span(0.08, 0.85) * tall * math.Sqrt(1-x*x)
		s.fill(p.place(ellipse(point{x, y}, s.span(0.05, 0.13), s.span(0.04, 0.1))), s.shaded(pale))
	}
}

// rounded lights a body of the given half width from one side.
func (s *scene) rounded(p pose, c rgb, half float64) paint {
	n := s.noise()
	return func(x, y float64) rgb {
		q := p.invert(x, y)
		t := q.x/half + 0.35
		return c.times(1.1 - 0.3*t*t + 0.25*(n.cloud(x/7, y/7, 3)-0.5) - 0.15*q.y)
	}
}

// cactus paints a saguaro in the desert; one of the unknown classes.
func cactus(s *scene) {
	s.openSky()
	s.ridge(s.span(0.65, 0.82), 0.12, s.colour(0.05, 0.13, 0.3, 0.6, 0.5, 0.85))
	for range one(s, 1, 1, 2) {
		tall := s.side() * s.span(0.5, 0.75)
		s.saguaro(point{s.width() * s.span(0.25, 0.75), s.height() * s.span(0.85, 0.98)}, tall)
	}
}

func (s *scene) saguaro(foot point, tall float64) {
	c := s.colour(0.25, 0.42, 0.3, 0.7, 0.3, 0.6)
	thick := tall * s.span(0.13, 0.2)
	s.limb(shape{foot, foot.plus(point{0, -tall})}, thick, c)
	for _, side := range [2]float64{-1, 1} {
		if s.chance(0.15) {
			continue
		}
		root := foot.plus(point{0, -tall * s.span(0.3, 0.55)})
		elbow := root.plus(point{side * tall * s.span(0.2, 0.3), 0})
		tip := elbow.plus(point{0, -tall * s.span(0.2, 0.4)})
		s.limb(append(bend(root, elbow, between(elbow, tip, 0.4)), tip), thick*0.7, c)
	}
}

// limb is a ribbed green tube along the path.
func (s *scene) limb(path shape, thick float64, c rgb) {
	s.fill(stroke(path, thick, thick*0.9), s.shaded(c))
	for i := -2; i <= 2; i++ {
		rib := c.times(0.75)
		if i%2 == 0 {
			rib = c.times(1.25)
		}
		side := path.shifted(float64(i)*thick*0.19, 0)
		s.glaze(stroke(side, thick*0.06, thick*0.06), 0.6, flat(rib))
	}
}
