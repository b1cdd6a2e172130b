package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
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
func Lines(name string, a Axes, lines []Series) (Figure, error) {
	lines = slices.Clone(lines)
	for i := range lines {
		s := &lines[i]
		s.Dashed = s.Dashed || !s.Thin && slices.ContainsFunc(lines[:i], func(o Series) bool { return o.Colour == s.Colour && o.Thin == s.Thin })
		if a.Log {
			s.X, s.Y = logarithms(s.X), logarithms(s.Y)
		}
	}
	ordered := slices.Clone(lines)
	slices.SortStableFunc(ordered, func(a, b Series) int {
		switch {
		case a.Thin == b.Thin:
			return 0
		case a.Thin:
			return -1
		}
		return 1
	})
	p := Canvas(a.Title, a.X, a.Y)
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, color.Gray{225}
	p.Add(grid)
	p.Y.Min, p.Y.Max = limits(lines)
	p.Y.Tick.Marker = ticks(p.Y.Min, p.Y.Max, a.Log)
	err := events(p, a.Events, p.Y.Min, p.Y.Max)
	for _, draw := range []func(Series, *plot.Plot) error{Series.drawBand, Series.draw} {
		for _, s := range ordered {
			if err == nil {
				err = draw(s, p)
			}
		}
	}
	if err == nil {
		err = finishX(p, a, lines)
	}
	if err != nil {
		return Figure{}, fmt.Errorf("draw %s: %w", name, err)
	}
	return Figure{name, p, width, height}, nil
}

// finishX sets the range of x, with space for the labels at the right, and
// draws the labels.
func finishX(p *plot.Plot, a Axes, lines []Series) error {
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
	p.X.Min, p.X.Max = left, right+(0.06+0.0125*float64(longest))*reach
	p.X.Tick.Marker = ticks(left, right, a.Log)
	if a.Ticks != nil {
		p.X.Min, p.X.Max = p.X.Min-0.2, p.X.Max+0.08
		p.X.Tick.Marker = Labelled(a.Ticks)
	}
	return label(p, lines, right, reach)
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

func (s Series) draw(p *plot.Plot) error {
	xys := s.points()
	if len(xys) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width = s.Colour, vg.Points(2)
	marks.Color, marks.Radius, marks.Shape = s.Colour, vg.Points(2.6), draw.CircleGlyph{}
	if s.Dashed {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	if s.Thin {
		line.Width, marks.Radius = vg.Points(0.9), vg.Points(1.5)
	}
	p.Add(line)
	if !s.Bare {
		p.Add(marks)
	}
	return nil
}

func (s Series) drawBand(p *plot.Plot) error {
	if s.Band == nil {
		return nil
	}
	var upper, lower plotter.XYs
	for i, y := range s.Y {
		if high, low := y+s.Band[i], y-s.Band[i]; !math.IsNaN(high) {
			upper, lower = append(upper, plotter.XY{X: s.at(i), Y: high}), append(lower, plotter.XY{X: s.at(i), Y: low})
		}
	}
	slices.Reverse(lower)
	outline := append(upper, lower...)
	if len(outline) == 0 {
		return nil
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	shade := s.Colour
	shade.A = 40
	band.Color, band.LineStyle.Width = shade, 0
	p.Add(band)
	return nil
}

// events draws a vertical line at every x.
func events(p *plot.Plot, at []float64, low, high float64) error {
	for _, x := range at {
		line, err := plotter.NewLine(plotter.XYs{{X: x, Y: low}, {X: x, Y: high}})
		if err != nil {
			return err
		}
		line.Color, line.Width, line.Dashes = color.Gray{150}, vg.Points(0.7), []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(line)
	}
	return nil
}
