package demo

import "math"

type point struct{ x, y float64 }

func (p point) plus(q point) point        { return point{p.x + q.x, p.y + q.y} }
func (p point) minus(q point) point       { return point{p.x - q.x, p.y - q.y} }
func (p point) times(k float64) point     { return point{p.x * k, p.y * k} }
func polar(r, angle float64) point        { return point{r * math.Cos(angle), r * math.Sin(angle)} }
func between(a, b point, t float64) point { return a.times(1 - t).plus(b.times(t)) }

// shape is the outline of a closed polygon.
type shape []point

func (s shape) bounds() (lo, hi point) {
	lo, hi = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, p := range s {
		lo = point{min(lo.x, p.x), min(lo.y, p.y)}
		hi = point{max(hi.x, p.x), max(hi.y, p.y)}
	}
	return lo, hi
}

// shifted moves a shape.
func (s shape) shifted(dx, dy float64) shape {
	return s.mapped(func(p point) point { return point{p.x + dx, p.y + dy} })
}

func (s shape) mapped(f func(point) point) shape {
	out := make(shape, len(s))
	for i, p := range s {
		out[i] = f(p)
	}
	return out
}

// a pose puts things drawn in their own unit coordinates on the canvas.
type pose struct {
	at          point
	size        float64 // pixels per unit
	turn        float64 // radians, clockwise on screen
	flip        bool    // mirrored left to right
	foreshorten float64 // 0: seen from the front; 0.5: half as wide
}

func (p pose) apply(q point) point {
	q.x *= 1 - p.foreshorten
	if p.flip {
		q.x = -q.x
	}
	sin, cos := math.Sincos(p.turn)
	return p.at.plus(point{q.x*cos - q.y*sin, q.x*sin + q.y*cos}.times(p.size))
}

// place draws a unit shape at the pose.
func (p pose) place(s shape) shape { return s.mapped(p.apply) }

// invert maps a pixel back to unit coordinates.
func (p pose) invert(x, y float64) point {
	d := point{x, y}.minus(p.at).times(1 / p.size)
	sin, cos := math.Sincos(p.turn)
	q := point{d.x*cos + d.y*sin, -d.x*sin + d.y*cos}
	if p.flip {
		q.x = -q.x
	}
	q.x /= 1 - p.foreshorten
	return q
}

// curve samples f at n+1 points of [0,1].
func curve(n int, f func(t float64) point) shape {
	out := make(shape, n+1)
	for i := range out {
		out[i] = f(float64(i) / float64(n))
	}
	return out
}

func ellipse(centre point, rx, ry float64) shape {
	return curve(48, func(t float64) point {
		return centre.plus(point{rx * math.Cos(2*math.Pi*t), ry * math.Sin(2*math.Pi*t)})
	})
}

func disc(centre point, r float64) shape { return ellipse(centre, r, r) }

func rectangle(x0, y0, x1, y1 float64) shape {
	return shape{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}

// stroke is a line along the path whose width goes from w0 to w1, with round
// ends.
func stroke(path shape, w0, w1 float64) shape {
	n := len(path) - 1
	left, right := make(shape, 0, 2*n+12), make(shape, 0, n+1)
	for i, p := range path {
		d := path[min(i+1, n)].minus(path[max(i-1, 0)])
		k := (w0 + (w1-w0)*float64(i)/float64(n)) / 2 / max(math.Hypot(d.x, d.y), 1e-9)
		side := point{-d.y, d.x}.times(k)
		left, right = append(left, p.plus(side)), append(right, p.minus(side))
	}
	left = append(left, cap180(path[n], left[n])...)
	for i := n; i >= 0; i-- {
		left = append(left, right[i])
	}
	return append(left, cap180(path[0], right[0])...)
}

// cap180 is the half circle around centre that starts at from.
func cap180(centre, from point) shape {
	d := from.minus(centre)
	r, start := math.Hypot(d.x, d.y), math.Atan2(d.y, d.x)
	return curve(6, func(t float64) point { return centre.plus(polar(r, start-math.Pi*t)) })
}

// bend is a quadratic Bézier path from a to b drawn towards the control c.
func bend(a, c, b point) shape {
	return curve(14, func(t float64) point { return between(between(a, c, t), between(c, b, t), t) })
}
