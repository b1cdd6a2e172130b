package chart

import (
	"cmp"
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
	// Ticks are labels of x = 1, 2, …; nil means that x is numeric.
	Ticks []string
	// Events are values of x marked by a vertical line.
	Events []float64
	// Log makes both axes logarithmic; all values must be positive.
	Log bool
}

// A Series is one line. Points with a NaN y are left out; their neighbours are
// joined.
type Series struct {
	Label string
	// X holds the values of x, ascending; nil means 1, 2, ….
	X, Y   []float64
	Band   []float64 // half the height of a band around Y, nil for none
	Colour color.NRGBA
	Dashed bool
	Thin   bool // drawn behind the others
	Bare   bool // without markers, for lines with many points
}

const (
	width  = 560
	height = 380
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

// Lines draws lines, labelled at their right ends. Thin lines stay behind the
// others; of two that look the same the second is dashed.
func Lines(name string, a Axes, lines []Series) Figure {
	lines = slices.Clone(lines)
	for i := range lines {
		s := &lines[i]
		s.Dashed = s.Dashed || !s.Thin &&
			slices.ContainsFunc(lines[:i], func(o Series) bool { return o.Colour == s.Colour && o.Thin == s.Thin })
		if a.Log {
			s.X, s.Y = logarithms(s.X), logarithms(s.Y)
		}
	}
	f := New(name, a.Title, a.X, a.Y, width, height)
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, color.Gray{225}
	f.Plot.Add(grid)
	low, high := limits(lines)
	f.Plot.Y.Min, f.Plot.Y.Max, f.Plot.Y.Tick.Marker = low, high, ticks(low, high, a.Log)
	for _, x := range a.Events {
		f.line(plotter.XYs{{X: x, Y: low}, {X: x, Y: high}}, draw.LineStyle{Color: color.Gray{150},
			Width: vg.Points(0.7), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}})
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

// finishX sets the range of x, with space for the labels at the right, and
// draws the labels.
func (f *Figure) finishX(a Axes, lines []Series) {
	longest := 0
	left, right := math.Inf(1), math.Inf(-1)
	for _, s := range lines {
		longest = max(longest, len([]rune(s.Label)))
		for _, xy := range s.points() {
			left, right = min(left, xy.X), max(right, xy.X)
		}
	}
	if left > right {
		left, right = 0, 1
	}
	if a.Ticks != nil {
		left, right = 1, float64(max(1, len(a.Ticks)))
	}
	reach := between(left, right)
	x := &f.Plot.X
	x.Min, x.Max = left, right+(0.06+0.0125*float64(longest))*reach
	x.Tick.Marker = ticks(left, right, a.Log)
	if a.Ticks != nil {
		x.Min, x.Max = x.Min-0.2, x.Max+0.08
		x.Tick.Marker = Labelled(a.Ticks)
	}
	f.label(lines, right, reach)
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
	f.line(xys, line)
	if !s.Bare {
		f.marks(xys, marks)
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
		f.Area(append(upper, lower...), shade)
	}
}

// lineShare is the height of a label as a share of the plot's height.
const lineShare = 0.034

// A tag is a label at the right end of a line.
type tag struct {
	text   string
	end, y float64 // y of the line's end, and of the label
	colour color.NRGBA
}

// label writes the names of the lines at their right ends. Labels that would
// overlap are moved apart and connected to their lines by a hairline.
func (f *Figure) label(lines []Series, x, reach float64) {
	var tags []tag
	for _, s := range lines {
		if xys := s.points(); len(xys) > 0 {
			y := xys[len(xys)-1].Y
			tags = append(tags, tag{s.Label, y, y, s.Colour})
		}
	}
	low, high := f.Plot.Y.Min, f.Plot.Y.Max
	spread(tags, low, high, lineShare*(high-low))
	gap := 0.03 * reach
	for _, t := range tags {
		f.line(plotter.XYs{{X: x, Y: t.end}, {X: x + gap, Y: t.y}},
			draw.LineStyle{Color: t.colour, Width: vg.Points(0.4)})
		f.Text(t.text, t.colour, x+1.25*gap, t.y)
	}
}

// spread sorts tags in ascending order and moves them at least gap apart,
// between low and high, with one pass up and one pass down.
func spread(tags []tag, low, high, gap float64) {
	slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Compare(a.end, b.end) })
	floor := low
	for i := range tags {
		tags[i].y = max(tags[i].y, floor)
		floor = tags[i].y + gap
	}
	ceiling := high
	for i := len(tags) - 1; i >= 0; i-- {
		tags[i].y = min(tags[i].y, ceiling)
		ceiling = tags[i].y - gap
	}
}
