package demo

import "math"

// backdrop paints something for a thing to stand in front of: open land, a
// plain wall, blurred foliage, or now and then one of the other textures.
func (s *scene) backdrop() {
	switch s.count(0, 8) {
	case 0, 1:
		s.land()
	case 2, 3:
		s.plainWall()
	case 4, 5:
		s.foliage()
	case 6, 7:
		s.tabletop()
	default:
		s.bokeh()
	}
}

// tabletop lays things on wood, cloth, bricks or tiles: the classes of other
// pictures.
func (s *scene) tabletop() {
	one(s, woodGrain, woodGrain, checkedCloth, polkaDots, brickWall, roofTiles)(s)
	s.blur(s.count(0, 2))
}

func (s *scene) plainWall() {
	a, b, n := s.colour(0, 1, 0.03, 0.5, 0.35, 0.95), s.anyColour(), s.noise()
	b = mix(a, b, 0.45)
	dir, rough := polar(0.8/s.side(), s.span(0, 6.3)), s.span(0.05, 0.3)
	s.cover(func(x, y float64) rgb {
		t := clamp01(0.5 + (x-s.width()/2)*dir.x + (y-s.height()/2)*dir.y)
		return mix(a, b, t).times(1 + rough*2*(n.cloud(x/14, y/14, 4)-0.5))
	})
}

// foliage is out-of-focus green or autumn growth.
func (s *scene) foliage() {
	n, size := s.noise(), s.span(10, 40)
	dark := s.colour(0.2, 0.42, 0.3, 0.8, 0.1, 0.3)
	pale := s.colour(0.1, 0.33, 0.3, 0.7, 0.45, 0.85)
	s.cover(func(x, y float64) rgb {
		return mix(dark, pale, smoothstep(0.25, 0.75, n.cloud(x/size, y/size, 4)))
	})
	s.blur(s.count(1, 4))
}

// bokeh is a dark room with soft discs of light.
func (s *scene) bokeh() {
	base := s.colour(0, 1, 0.2, 0.7, 0.1, 0.35)
	s.cover(s.shaded(base))
	for range s.count(6, 18) {
		c := mix(base, s.anyColour(), 0.7)
		s.glaze(disc(s.spot(-0.05), s.side()*s.span(0.03, 0.13)), s.span(0.3, 0.7), flat(c))
	}
	s.blur(s.count(1, 4))
}

// land is sky with clouds over hills and a meadow.
func (s *scene) land() {
	s.openSky()
	at := s.span(0.45, 0.75)
	if s.chance(0.6) {
		s.ridge(at-0.07, 0.25, s.colour(0.35, 0.65, 0.1, 0.4, 0.35, 0.65))
	}
	s.ridge(at, 0.06, s.colour(0.14, 0.36, 0.3, 0.7, 0.3, 0.7))
	if s.chance(0.5) {
		s.tree(point{s.width() * s.span(0, 1), s.height() * (at + 0.05)}, s.side()*s.span(0.15, 0.35))
	}
}

func (s *scene) openSky() {
	n, size, cover := s.noise(), s.span(25, 70), s.span(0.45, 0.75)
	low, high := s.sky()
	white := mix(low, grey(1), 0.6)
	s.cover(func(x, y float64) rgb {
		c := mix(high, low, math.Sqrt(clamp01(y/s.height())))
		return mix(c, white, 0.85*smoothstep(cover, cover+0.2, n.cloud(x/size, y/size*2, 4)))
	})
}

// tree stands on its foot at the given height in pixels.
func (s *scene) tree(foot point, tall float64) {
	trunk := stroke(shape{foot, foot.plus(point{0, -tall * 0.6})}, tall*0.12, tall*0.06)
	s.fill(trunk, s.shaded(s.colour(0.04, 0.1, 0.3, 0.6, 0.2, 0.45)))
	leaf := s.colour(0.15, 0.4, 0.35, 0.8, 0.25, 0.6)
	for range s.count(4, 8) {
		at := foot.plus(point{tall * s.span(-0.25, 0.25), -tall * s.span(0.5, 0.95)})
		s.fill(s.blob(at, tall*s.span(0.15, 0.28)), s.shaded(leaf.times(s.span(0.75, 1.2))))
	}
}
