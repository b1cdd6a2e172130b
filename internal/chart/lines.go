package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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

// Lines draws lines, each with its name at its last point. Thin lines stay behind
// the others; of two that look the same the second is dashed. Many lines make the
// figure higher, so that there is room for their names.
func Lines(name string, a Axes, lines []Series) Figure {
	lines = slices.Clone(lines)
	for i := range lines {
		s := &lines[i]
		s.sort()
		s.Dashed = s.Dashed || !s.Thin &&
			slices.ContainsFunc(lines[:i], func(o Series) bool { return o.Colour == s.Colour && o.Thin == s.Thin })
		if a.LogX {
			s.X = logarithms(s.X)
		}
		if a.LogY {
			s.Y = logarithms(s.Y)
		}
	}
	f := newFigure(name, a.Title, a.X, a.Y, width, max(leastHeight, 110+nameHeight*vg.Length(len(lines))))
	for _, s := range lines {
		if slices.ContainsFunc(s.Y, func(y float64) bool { return math.IsInf(y, 0) }) {
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
	for _, draw := range []func(*Figure, Series){(*Figure).band, (*Figure).series} {
		for _, thin := range []bool{true, false} {
			for _, s := range lines {
				if s.Thin == thin {
					draw(f, s)
				}
			}
		}
	}
	f.finishX(a, lines)
	return *f
}

// finishX sets the range of x and writes the names of the lines.
func (f *Figure) finishX(a Axes, lines []Series) {
	left, right := math.Inf(1), math.Inf(-1)
	whole := 1.0 // the least step between ticks, 0 for any
	for _, s := range lines {
		for _, xy := range s.points() {
			left, right = min(left, xy.X), max(right, xy.X)
			if xy.X != math.Trunc(xy.X) {
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
func limits(lines []Series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range lines {
		for i, y := range s.Y {
			if math.IsNaN(y) {
				continue
			}
			b := 0.0
			if s.Band != nil && !math.IsNaN(s.Band[i]) {
				b = s.Band[i]
			}
			low, high = min(low, y-b), max(high, y+b)
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

// sort puts the points into ascending order of x.
func (s *Series) sort() {
	if slices.IsSorted(s.X) {
		return
	}
	order := make([]int, len(s.X))
	floats.ArgsortStable(slices.Clone(s.X), order)
	pick := func(values []float64) (out []float64) {
		for _, i := range order[:len(values)] { // Band may be nil
			out = append(out, values[i])
		}
		return out
	}
	s.X, s.Y, s.Band = pick(s.X), pick(s.Y), pick(s.Band)
}

func (s Series) at(i int) float64 {
	if s.X == nil {
		return float64(i + 1)
	}
	return s.X[i]
}

func (s Series) points() plotter.XYs {
	var xys plotter.XYs
	for i, y := range s.Y {
		if !math.IsNaN(y) {
			xys = append(xys, plotter.XY{X: s.at(i), Y: y})
		}
	}
	return xys
}

func (f *Figure) series(s Series) {
	xys := s.points()
	if len(xys) == 0 {
		return
	}
	line := draw.LineStyle{Color: s.Colour, Width: vg.Points(2)}
	marks := draw.GlyphStyle{Color: s.Colour, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
	if s.Dashed {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	if s.Thin {
		line.Width, marks.Radius = vg.Points(0.9), vg.Points(1.5)
	}
	f.Plot.Add(&plotter.Line{XYs: xys, LineStyle: line})
	if !s.Bare {
		f.Plot.Add(&plotter.Scatter{XYs: xys, GlyphStyle: marks})
	}
}

func (f *Figure) band(s Series) {
	var upper, lower plotter.XYs
	for i, b := range s.Band {
		if high, low := s.Y[i]+b, s.Y[i]-b; !math.IsNaN(high) {
			upper, lower = append(upper, plotter.XY{X: s.at(i), Y: high}), append(lower, plotter.XY{X: s.at(i), Y: low})
		}
	}
	if len(upper) > 0 {
		slices.Reverse(lower)
		shade := s.Colour
		shade.A = 40
		f.Plot.Add(&plotter.Polygon{XYs: []plotter.XYs{append(upper, lower...)}, Color: shade})
	}
}
