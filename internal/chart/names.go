package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	nameHeight = 10.5 // of a name, in points
	nameGap    = 10   // between the last point of a line and its name
)

// names is a plotter.Plotter that writes the name of each line at its last point:
// those of lines that reach the right end in a column there, moved apart where they
// would overlap, the others at the nearest place that no line and no name covers.
// Hairlines connect names to points.
type names struct {
	lines []line
	right float64 // the largest x
	style text.Style
}

// A tag is a name and its place.
type tag struct {
	text   string
	end    vg.Point // of the line
	box    vg.Rectangle
	colour color.NRGBA
}

// GlyphBoxes reserves the room of the column.
func (n names) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, s := range n.lines {
		k := len(s.points)
		if k > 0 && s.points[k-1].X == n.right {
			wide := vg.Rectangle{Max: vg.Point{X: nameGap + n.style.Width(s.Label)}}
			boxes = append(boxes, plot.GlyphBox{X: min(1, p.X.Norm(n.right)), Y: 0.5, Rectangle: wide})
		}
	}
	return boxes
}

// Plot writes the names.
func (n names) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var column, early []tag
	var paths [][]vg.Point
	right := c.Max.X
	for _, s := range n.lines {
		var path []vg.Point
		for _, p := range s.points {
			path = append(path, vg.Point{X: x(p.X), Y: y(p.Y)})
		}
		if len(path) == 0 {
			continue
		}
		paths = append(paths, path)
		t := tag{text: s.Label, end: path[len(path)-1], colour: s.Colour}
		if t.move(t.end.X+nameGap, t.end.Y, n.style); s.points[len(path)-1].X == n.right {
			column, right = append(column, t), max(right, t.box.Max.X)
		} else {
			early = append(early, t)
		}
	}
	spread(column, c.Min.Y, c.Max.Y)
	placed := column
	for _, t := range early {
		t.settle(vg.Rectangle{Min: c.Min, Max: vg.Point{X: right, Y: c.Max.Y}}, placed, paths, n.style)
		placed = append(placed, t)
	}
	for _, t := range placed {
		n.style.Color = t.colour
		near := vg.Point{X: min(max(t.end.X, t.box.Min.X-2), t.box.Max.X+2), Y: t.middle()}
		c.StrokeLine2(draw.LineStyle{Color: t.colour, Width: vg.Points(0.4)}, t.end.X, t.end.Y, near.X, near.Y)
		c.FillText(n.style, vg.Point{X: t.box.Min.X, Y: t.middle()}, t.text)
	}
}

func (t tag) middle() vg.Length { return (t.box.Min.Y + t.box.Max.Y) / 2 }

// move puts the left end of the name at x and its middle at y.
func (t *tag) move(x, y vg.Length, style text.Style) {
	t.box.Min = vg.Point{X: x, Y: y - nameHeight/2}
	t.box.Max = vg.Point{X: x + style.Width(t.text), Y: y + nameHeight/2}
}

// spread sorts tags in ascending order and moves them apart, between low and high,
// with one pass up and one pass down.
func spread(tags []tag, low, high vg.Length) {
	slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Compare(a.end.Y, b.end.Y) })
	shift := func(t *tag, by vg.Length) { t.box.Min.Y, t.box.Max.Y = t.box.Min.Y+by, t.box.Max.Y+by }
	floor := low - nameHeight/2
	for i := range tags {
		shift(&tags[i], max(0, floor-tags[i].box.Min.Y))
		floor = tags[i].box.Max.Y
	}
	ceiling := high + nameHeight/2
	for i := len(tags) - 1; i >= 0; i-- {
		shift(&tags[i], min(0, ceiling-tags[i].box.Max.Y))
		ceiling = tags[i].box.Min.Y
	}
}

// settle moves the name to the nearest place within the frame that covers no other name
// and as few lines as possible.
func (t *tag) settle(frame vg.Rectangle, others []tag, paths [][]vg.Point, style text.Style) {
	const covered = 1000 // a name weighs more than any number of lines
	wide, best, least := style.Width(t.text), *t, math.MaxInt
	for k := 0; vg.Length(k) < 2*(frame.Max.Y-frame.Min.Y)/nameHeight; k++ {
		for _, side := range []vg.Length{nameGap, -wide / 2, -wide - nameGap} {
			for _, up := range []vg.Length{1, -1} {
				try := *t
				try.move(t.end.X+side, t.end.Y+up*nameHeight*vg.Length(k)/2, style)
				b := try.box
				if b.Min.X < frame.Min.X || b.Max.X > frame.Max.X || b.Min.Y < frame.Min.Y ||
					b.Max.Y > frame.Max.Y {
					continue
				}
				cost := 0
				for _, o := range others {
					if overlap(try.box, o.box) {
						cost += covered
					}
				}
				for _, path := range paths {
					cost += crossings(path, try.box)
				}
				if cost < least {
					best, least = try, cost
				}
			}
		}
		if least == 0 {
			break
		}
	}
	*t = best
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// crossings returns how many parts of the path are in the box.
func crossings(path []vg.Point, box vg.Rectangle) int {
	inside := draw.Canvas{Rectangle: box}
	return len(inside.ClipLinesXY(path))
}
