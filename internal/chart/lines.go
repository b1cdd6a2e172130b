package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Axes describes the title and the axes of a chart.
type Axes struct {
	Title, X, Y string
	// Names are labels of x = 1, 2, …, for what has no number; nil means that x
	// is numeric.
	Names []string
	// Events are values of x marked by a vertical line.
	Events []float64
	// LogX and LogY make an axis logarithmic; its values must be positive.
	LogX, LogY bool
}

// A Series is one line. Points with a NaN y are left out; their neighbours are
// joined.
type Series struct {
	Label string
	// X holds the values of x, in any order; nil means 1, 2, ….
	X, Y   []float64
	Band   []float64 // half the height of a band around Y, nil for none
	Colour color.NRGBA
	Dashed bool
	Thin   bool // drawn behind the others
	Bare   bool // without markers, for lines with many points
}

const (
	width       = 560
	leastHeight = 380
)

// Palette returns colour i of Okabe and Ito, excluding yellow.
func Palette(i int) color.NRGBA {
	colours := []color.NRGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
	}
	return colours[i%len(colours)]
}

// Grey is the colour of published results.
func Grey() color.NRGBA { return color.NRGBA{135, 135, 135, 255} }

// A line is a series as it is drawn, in ascending order of x.
type line struct {
	Series
	points []point
}

// A point has logarithms where an axis is logarithmic; band is 0 where there is none.
type point struct {
	plotter.XY
	band float64
}

func (s Series) line(a Axes) line {
	l := line{Series: s}
	for i, y := range s.Y {
		p := point{XY: plotter.XY{X: float64(i + 1), Y: y}}
		if s.X != nil {
			p.X = s.X[i]
		}
		if s.Band != nil && !math.IsNaN(s.Band[i]) {
			p.band = s.Band[i]
		}
		if a.LogX {
			p.X = math.Log10(p.X)
		}
		if a.LogY {
			p.Y = math.Log10(p.Y)
		}
		if !math.IsNaN(y) {
			l.points = append(l.points, p)
		}
	}
	slices.SortStableFunc(l.points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
	return l
}

// shifted returns the points moved up by a share of their bands.
func (l line) shifted(share float64) plotter.XYs {
	xys := make(plotter.XYs, len(l.points))
	for i, p := range l.points {
		xys[i] = plotter.XY{X: p.X, Y: p.Y + share*p.band}
	}
	return xys
}

// Lines draws lines, each with its name at its last point. Thin lines stay behind
// the others; of two that look the same the second is dashed. Many lines make the
// figure higher, so that there is room for their names.
func Lines(name string, a Axes, series []Series) Figure {
	f := newFigure(name, a.Title, a.X, a.Y, width, max(leastHeight, 110+nameHeight*vg.Length(len(series))))
	lines := make([]line, len(series))
	for i, s := range series {
		s.Dashed = s.Dashed || !s.Thin &&
			slices.ContainsFunc(series[:i], func(o Series) bool { return o.Colour == s.Colour && o.Thin == s.Thin })
		lines[i] = s.line(a)
		if slices.ContainsFunc(lines[i].points, func(p point) bool { return math.IsInf(p.Y, 0) }) {
			f.fail(fmt.Errorf("%s: a value is infinite, or 0 on a logarithmic axis", s.Label))
			return *f
		}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, color.Gray{225}
	f.Plot.Add(grid)
	low, high := limits(lines)
	f.Plot.Y.Min, f.Plot.Y.Max, f.Plot.Y.Tick.Marker = low, high, ticks(low, high, 0, a.LogY)
	for _, x := range a.Events {
		f.Plot.Add(&plotter.Line{XYs: plotter.XYs{{X: x, Y: low}, {X: x, Y: high}}, LineStyle: draw.LineStyle{
			Color: color.Gray{150}, Width: vg.Points(0.7), Dashes: []vg.Length{vg.Points(4), vg.Points(3)},
		}})
	}
	for _, draw := range []func(*Figure, line){(*Figure).band, (*Figure).line} {
		for _, thin := range []bool{true, false} {
			for _, l := range lines {
				if l.Thin == thin {
					draw(f, l)
				}
			}
		}
	}
	f.finishX(a, lines)
	return *f
}

// finishX sets the range of x and writes the names of the lines.
func (f *Figure) finishX(a Axes, lines []line) {
	left, right := math.Inf(1), math.Inf(-1)
	whole := 1.0 // the least step between ticks, 0 for any
	for _, l := range lines {
		for _, p := range l.points {
			left, right = min(left, p.X), max(right, p.X)
			if p.X != math.Trunc(p.X) {
				whole = 0
			}
		}
	}
	if left > right {
		left, right = 0, 1
	}
	x := &f.Plot.X
	if a.Names != nil {
		left, right = 1, float64(max(1, len(a.Names)))
		f.nameTicks(a.Names, width-130)
	} else {
		x.Tick.Marker = ticks(left, right, whole, a.LogX)
	}
	x.Min, x.Max = left, right
	f.Plot.Add(names{lines: lines, right: right, style: f.small(9)})
}

// limits returns round values around everything drawn.
func limits(lines []line) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			low, high = min(low, p.Y-p.band), max(high, p.Y+p.band)
		}
	}
	if low > high {
		return 0, 1
	}
	step := roundStep(low, high) / 2
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	if low == high {
		high += step
	}
	return low, high
}

func (f *Figure) line(l line) {
	style := draw.LineStyle{Color: l.Colour, Width: vg.Points(2)}
	marks := draw.GlyphStyle{Color: l.Colour, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
	if l.Dashed {
		style.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	if l.Thin {
		style.Width, marks.Radius = vg.Points(0.9), vg.Points(1.5)
	}
	f.Plot.Add(&plotter.Line{XYs: l.shifted(0), LineStyle: style})
	if !l.Bare {
		f.Plot.Add(&plotter.Scatter{XYs: l.shifted(0), GlyphStyle: marks})
	}
}

func (f *Figure) band(l line) {
	if !slices.ContainsFunc(l.points, func(p point) bool { return p.band > 0 }) {
		return
	}
	lower := l.shifted(-1)
	slices.Reverse(lower)
	shade := l.Colour
	shade.A = 40
	f.Plot.Add(&plotter.Polygon{XYs: []plotter.XYs{append(l.shifted(1), lower...)}, Color: shade})
}
