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

// Axes say what a chart shows.
type Axes struct {
	Title, X, Y string
	// Ticks are labels of x = 1, 2, …; nil means that x is a number.
	Ticks []string
	// Events are values of x marked by a vertical line.
	Events []float64
}

// A Series is one line. Points whose y is not a number are left out; those
// around such a gap are joined.
type Series struct {
	Label string
	// X are the values of x, ascending; nil means 1, 2, ….
	X, Y   []float64
	Band   []float64 // half the height of a band around Y, nil for none
	Colour color.NRGBA
	Dashed bool
	Thin   bool // drawn behind the others
	Bare   bool // without markers: for lines of many points
}

const (
	width  = 560
	height = 380
)

// Palette returns colour i of Okabe and Ito, without yellow.
func Palette(i int) color.NRGBA {
	colours := []color.NRGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
	}
	return colours[i%len(colours)]
}

// Grey is the colour of what others have published.
func Grey() color.NRGBA { return color.NRGBA{135, 135, 135, 255} }

// Lines draws lines, labelled at their right ends. Thin lines stay behind the
// others; of two that look the same the second is dashed.
func Lines(name string, a Axes, lines []Series) (Figure, error) {
	p := Canvas(a.Title, a.X, a.Y)
	p.Add(grid())
	ordered := distinct(lines)
	slices.SortStableFunc(ordered, func(a, b Series) int { return rank(b) - rank(a) })
	low, high := limits(lines)
	err := events(p, a.Events, low, high)
	for _, draw := range []func(Series, *plot.Plot) error{Series.drawBand, Series.draw} {
		for _, s := range ordered {
			if err == nil {
				err = draw(s, p)
			}
		}
	}
	p.Y.Min, p.Y.Max = low, high
	p.Y.Tick.Marker = roundTicks(low, high)
	if err == nil {
		err = finishX(p, a, lines)
	}
	if err != nil {
		return Figure{}, fmt.Errorf("draw %s: %w", name, err)
	}
	return Figure{name, p, width, height}, nil
}

// distinct returns the lines, dashed where one before has the colour.
func distinct(lines []Series) []Series {
	out := slices.Clone(lines)
	for i := range out {
		s := &out[i]
		s.Dashed = s.Dashed || !s.Thin && slices.ContainsFunc(out[:i], func(o Series) bool { return o.Colour == s.Colour && o.Thin == s.Thin })
	}
	return out
}

// finishX sets the range of x with room for the labels at the right.
func finishX(p *plot.Plot, a Axes, lines []Series) error {
	left, right := 1.0, float64(max(1, len(a.Ticks)))
	margin := 0.2
	p.X.Tick.Marker = Labelled(a.Ticks)
	if a.Ticks == nil {
		left, right = span(lines)
		margin = 0
		p.X.Tick.Marker = roundTicks(left, right)
	}
	reach := right - left
	if reach <= 0 {
		reach = 1
	}
	p.X.Min, p.X.Max = left-margin, right+0.08+labelRoom(lines)*reach
	if a.Ticks == nil {
		p.X.Max = right + labelRoom(lines)*reach
	}
	return label(p, lines, right, reach)
}

// span returns the least and the largest x.
func span(lines []Series) (left, right float64) {
	left, right = math.Inf(1), math.Inf(-1)
	for _, s := range lines {
		for _, xy := range s.points() {
			left, right = min(left, xy.X), max(right, xy.X)
		}
	}
	if left > right {
		return 0, 1
	}
	return left, right
}

func rank(s Series) int {
	if s.Thin {
		return 1
	}
	return 0
}

// labelRoom is the share of the width that the labels take.
func labelRoom(lines []Series) float64 {
	longest := 0
	for _, s := range lines {
		longest = max(longest, len([]rune(s.Label)))
	}
	return 0.06 + 0.0125*float64(longest)
}

// limits returns round values around everything that is drawn.
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
	step := roundStep(high-low) / 2
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
