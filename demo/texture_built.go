package demo

import "math"

// brickWall paints running-bond bricks with mortar.
func brickWall(s *scene) {
	v, n := s.look(11, 44, 0.5), s.noise()
	clay := s.colour(-0.02, 0.09, 0.25, 0.75, 0.45, 0.8)
	if s.chance(0.15) {
		clay = s.colour(0, 1, 0.02, 0.12, 0.6, 0.9)
	}
	mortar := grey(s.span(0.35, 0.85))
	length, gap, spread := s.span(1.9, 2.6), s.span(0.05, 0.12), s.span(0.15, 0.5)
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		row := math.Floor(w)
		u = u/length + 0.5*math.Mod(row, 2)
		inside := border(fraction(u)*length, length, gap, v.edge()) * border(fraction(w), 1, gap, v.edge())
		tone := 1 + spread*(n.cell(math.Floor(u), row)-0.5)
		rough := 0.8 + 0.4*n.cloud(u*length*4, w*4, 3)
		bevel := 1 + 0.15*(0.5-fraction(w))
		return mix(mortar.times(rough), clay.times(tone*rough*bevel), inside)
	})
}

// border is 1 inside a cell of the given length and 0 within gap of its ends.
func border(at, length, gap, edge float64) float64 {
	return smoothstep(gap-edge/2, gap+edge/2, min(at, length-at))
}

// roofTiles paints rows of overlapping round-ended tiles.
func roofTiles(s *scene) {
	v, n := s.look(15, 48, 0.5), s.noise()
	tile := s.colour(-0.01, 0.07, 0.4, 0.8, 0.5, 0.85)
	if s.chance(0.3) {
		tile = s.colour(0.5, 0.7, 0.03, 0.2, 0.35, 0.6)
	}
	round, spread, aspect := s.span(0.25, 0.5), s.span(0.15, 0.5), s.span(0.7, 1)
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		row, depth, col, across := tileAt(u, w/aspect, round)
		tone := 1 + spread*(n.cell(col, row)-0.5)
		rough := 0.85 + 0.3*n.cloud(u*5, w*5, 3)
		joint := smoothstep(0.5, 0.44, math.Abs(across))
		shade := (0.55 + 0.45*smoothstep(0, 0.3, depth)) * (0.8 + 0.2*joint) * (1 - 0.5*across*across)
		lip := 0.25 * smoothstep(0.86, 0.97, depth)
		return tile.times(tone * rough * (shade + lip))
	})
}

// tileAt finds the topmost tile at (u, w): its row and column, how far down its
// visible part we are (0 at the shadow of the row above, 1 at its own end), and
// the position across, −½ to ½.
func tileAt(u, w, round float64) (row, depth, col, across float64) {
	row = math.Floor(w)
	for _, r := range [2]float64{row - 1, row} {
		shifted := u + 0.5*math.Mod(r, 2)
		col, across = math.Floor(shifted), fraction(shifted)-0.5
		end := 1 + round*(math.Sqrt(max(0, 1-4*across*across))-0.4)
		if depth = (w - r) / end; depth < 1 {
			return r, clamp01(1 - (1-depth)*end), col, across
		}
	}
	return row + 1, 0, math.Floor(u + 0.5*math.Mod(row+1, 2)), across // in the gap, the tile below
}

// honeycomb paints hexagonal wax cells, some filled.
func honeycomb(s *scene) {
	v, n := s.look(11, 44, 3), s.noise()
	wax := s.colour(0.08, 0.14, 0.5, 0.9, 0.7, 0.95)
	honey := s.colour(0.05, 0.12, 0.75, 1, 0.3, 0.75)
	wall, filled := s.span(0.06, 0.13), s.span(0.2, 0.8)
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		col, row, edge, dx, dy := hexagon(u, w)
		inside := smoothstep(wall-v.edge(), wall+v.edge()/2, edge)
		shine := 1 + 1.1*(dx+dy) - 0.8*(dx*dx+dy*dy)
		cell := honey.times(0.45 + 0.35*edge)
		if n.cell(col, row) < filled {
			cell = honey.times(shine).plus(grey(0.5 * smoothstep(0.1, 0.04, math.Hypot(dx+0.15, dy+0.18))))
		}
		return mix(wax.times(0.9+0.35*(n.cloud(u*3, w*3, 2)-0.5)), cell, inside)
	})
}

// hexagon finds the cell of a honeycomb of unit width at (u, w): its indices,
// the distance to its border, and the offset from its centre.
func hexagon(u, w float64) (col, row, edge, dx, dy float64) {
	const tall = 1.7320508075688772
	best := math.Inf(1)
	for _, half := range [2]float64{0, 0.5} {
		c, r := math.Round(u-half), math.Round(w/tall-half)
		ex, ey := u-c-half, w-(r+half)*tall
		if d := ex*ex + ey*ey; d < best {
			best, col, row, dx, dy = d, 2*c+2*half, 2*r+2*half, ex, ey
		}
	}
	ax, ay := math.Abs(dx), math.Abs(dy)
	return col, row, 0.5 - max(ax, ax*0.5+ay*tall/2), dx, dy
}

// woodGrain paints planks with rings and knots.
func woodGrain(s *scene) {
	v, n := s.look(30, 75, 1.6), s.noise()
	pale := s.colour(0.05, 0.11, 0.25, 0.65, 0.55, 0.9)
	dark := pale.times(s.span(0.35, 0.65))
	rings, knots, gap := s.span(5, 13), s.span(0.2, 0.9), s.span(0.005, 0.03)
	s.cover(func(x, y float64) rgb {
		u, w := v.at(x, y)
		plank := math.Floor(w)
		along := u*0.22 + 9*n.cell(plank, 3)
		bulge := knots * smoothstep(0.62, 0.95, n.at(along*1.7, w*1.3+50*plank))
		ring := fraction(rings * (n.cloud(along, w*0.9+31*plank, 2) + 0.5*bulge + 0.12*w))
		grain := n.cloud(u*1.2, w*28, 2)
		c := mix(dark, pale, clamp01(0.25+0.55*math.Pow(ring, 0.7)+0.5*(grain-0.5)))
		joint := border(fraction(w), 1, gap, v.edge())
		return c.times((0.85 + 0.3*n.cell(plank, 7)) * (0.35 + 0.65*joint) * (1 - 0.45*bulge))
	})
}
