package demo

import "math"

// leaves paints one to a few leaves with veins.
func leaves(s *scene) {
	s.backdrop()
	n := one(s, 1, 1, 2, 3, 5)
	for range n {
		size := s.side() * s.span(0.24, 0.55) / math.Pow(float64(n), 0.3)
		margin := 0.3
		if n > 2 {
			margin = 0.15
		}
		s.leaf(pose{at: s.spot(margin), size: size, turn: s.span(0, 6.3), foreshorten: s.span(0, 0.35)})
	}
}

// leaf paints a leaf of length 2 along the y axis of the pose.
func (s *scene) leaf(p pose) {
	c := s.colour(0.18, 0.36, 0.45, 0.9, 0.3, 0.75)
	if s.chance(0.35) {
		c = s.colour(-0.02, 0.15, 0.6, 0.95, 0.5, 0.9)
	}
	wide, tip, teeth := s.span(0.35, 0.62), s.span(0.7, 1.3), s.span(0, 0.09)
	saw := float64(s.count(7, 16))
	edge := func(side float64) func(t float64) point {
		return func(t float64) point {
			w := wide * math.Pow(math.Sin(math.Pi*math.Pow(t, tip)), 0.85)
			return point{side * w * (1 + teeth*(2*fraction(t*saw)-1)), 2*t - 1}
		}
	}
	outline := curve(90, edge(1))
	for i, left := 0, curve(90, edge(-1)); i < len(left); i++ {
		outline = append(outline, left[len(left)-1-i])
	}
	placed := p.place(outline)
	s.shadow(placed.shifted(4, 5), 4, 0.4)
	blotch := s.noise()
	s.fill(placed, func(x, y float64) rgb {
		q := p.invert(x, y)
		k := 0.95 + 0.35*q.x/wide + 0.4*(blotch.cloud(q.x*4, q.y*4, 3)-0.5)
		return c.times(k)
	})
	s.veins(p, c, wide)
}

func (s *scene) veins(p pose, leaf rgb, wide float64) {
	c := mix(leaf.times(s.span(0.6, 1.35)), rgb{0.8, 0.85, 0.5}, 0.35)
	stem := shape{{0, -0.95}, {0.02, 0}, {0, 0.95}, {s.span(-0.1, 0.1), 1.3}}
	s.fill(stroke(p.place(stem), 1, p.size*0.06), flat(c))
	pairs := s.count(4, 7)
	for i := range pairs {
		y := -0.65 + 1.35*float64(i)/float64(pairs)
		reach := wide * 0.8 * math.Sin(math.Pi*(y+1)/2)
		for _, side := range [2]float64{-1, 1} {
			path := bend(point{0, y + 0.12}, point{side * reach * 0.5, y}, point{side * reach, y - 0.22})
			s.glaze(stroke(p.place(path), p.size*0.03, 0.6), 0.8, flat(c))
		}
	}
}

// coins paints a handful of coins on a surface.
func coins(s *scene) {
	if s.chance(0.6) {
		s.plainWall()
	} else {
		s.tabletop()
	}
	lean := s.span(0, 0.45)
	for range s.count(2, 10) {
		r := s.side() * s.span(0.08, 0.24)
		s.coin(pose{at: s.spot(0.08), size: r, turn: s.span(-0.15, 0.15)}, lean)
	}
}

func (s *scene) coin(p pose, lean float64) {
	metal := one(s,
		s.colour(0.1, 0.14, 0.4, 0.7, 0.65, 0.9),  // brass
		s.colour(0.03, 0.07, 0.5, 0.7, 0.5, 0.75), // copper
		s.colour(0.55, 0.65, 0, 0.08, 0.6, 0.85))  // silver
	oval := func(r, dy float64) shape { return p.place(ellipse(point{0, dy}, r, r*(1-lean))) }
	s.shadow(oval(1.02, 0.1+lean*0.2).shifted(2, 2), 3, 0.55)
	s.fill(oval(1, 0.05+lean*0.2), flat(metal.times(0.45)))
	glint, scratches := s.span(0, 6.3), s.noise()
	brushed := func(x, y float64) rgb {
		q := p.invert(x, y)
		sheen := math.Cos(2 * (math.Atan2(q.y, q.x) - glint))
		return metal.times(0.85 + 0.22*sheen + 0.3*(scratches.cloud(x/3, y/3, 2)-0.5))
	}
	s.fill(oval(1, 0), func(x, y float64) rgb { return brushed(x, y).times(1.15) })
	s.fill(oval(0.88, 0), func(x, y float64) rgb { return brushed(x, y).times(0.72) })
	s.fill(oval(0.84, 0.02), brushed)
	s.relief(p, metal, lean)
}

// relief strikes a coin: a head, a star, or a number.
func (s *scene) relief(p pose, metal rgb, lean float64) {
	p.turn = s.span(0, 6.3)
	emboss := func(outline shape) {
		outline = outline.mapped(func(q point) point {
			q = p.apply(q).minus(p.at)
			return p.at.plus(point{q.x, q.y * (1 - lean)})
		})
		s.glaze(outline.shifted(1, 1), 0.7, flat(metal.times(0.5)))
		s.fill(outline, flat(metal.times(1.12)))
	}
	switch s.count(0, 2) {
	case 0:
		emboss(ellipse(point{0.02, -0.12}, 0.32, 0.4))
		emboss(shape{{-0.4, 0.62}, {-0.12, 0.2}, {0.22, 0.2}, {0.45, 0.6}})
	case 1:
		points := float64(s.count(5, 8))
		emboss(curve(int(2*points), func(t float64) point {
			return polar(0.58-0.36*math.Mod(math.Round(t*2*points), 2), 2*math.Pi*t)
		}))
	default:
		emboss(stroke(bend(point{-0.35, -0.4}, point{0.6, -0.5}, point{0.1, 0.1}), 0.16, 0.16))
		emboss(stroke(bend(point{0.1, 0.1}, point{-0.5, 0.5}, point{0.4, 0.48}), 0.16, 0.16))
	}
}

// balloon paints a hot-air balloon in the sky; one of the unknown classes.
func balloon(s *scene) {
	s.openSky()
	if s.chance(0.5) {
		s.ridge(s.span(0.8, 0.95), 0.2, s.colour(0.15, 0.6, 0.2, 0.6, 0.25, 0.6))
	}
	for range one(s, 1, 1, 1, 2, 3) {
		p := pose{at: s.spot(0.28), size: s.side() * s.span(0.16, 0.34), turn: s.span(-0.2, 0.2)}
		s.envelope(p)
	}
}

func (s *scene) envelope(p pose) {
	outline := curve(60, func(t float64) point {
		a := 2 * math.Pi * t
		return point{math.Sin(a) * (1 - 0.28*max(0, -math.Cos(a))), -math.Cos(a) - 0.25*min(0, math.Cos(a))*math.Cos(a)}
	})
	a, b, gores := s.anyColour(), s.anyColour(), float64(s.count(3, 7))
	dir := one(s, 0.0, 1.0)
	for _, x := range [4]float64{-0.25, -0.1, 0.1, 0.25} {
		s.fill(stroke(p.place(shape{{x * 1.8, 0.9}, {x * 0.7, 1.55}}), 1, 1), flat(grey(0.2)))
	}
	s.fill(p.place(rectangle(-0.2, 1.5, 0.2, 1.8)), s.shaded(s.colour(0.05, 0.1, 0.4, 0.7, 0.3, 0.5)))
	s.fill(p.place(outline), func(x, y float64) rgb {
		q := p.invert(x, y)
		bulge := math.Asin(max(-1, min(1, q.x/math.Sqrt(max(0.02, 1.05-q.y*q.y)))))
		stripe := fraction(bulge*gores/math.Pi*(1-dir) + q.y*gores/2*dir)
		c := mix(a, b, smoothstep(-0.04, 0.04, stripe-0.5))
		return c.times(1.05 - 0.45*q.x*q.x + 0.3*q.x - 0.25*q.y)
	})
}
