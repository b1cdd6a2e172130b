package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A series is one line: y (percent) after each session; NaN where nothing is
// known. Points around a gap are joined.
type series struct {
	label  string
	y      []float64
	band   []float64 // half the height of a band around y, nil for none
	colour color.NRGBA
	dashed bool
	thin   bool // drawn behind the others, without markers
}

// palette is that of Okabe and Ito, without yellow.
func palette(i int) color.NRGBA {
	colours := []color.NRGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
	}
	return colours[i%len(colours)]
}

// chart draws lines over the sessions, labelled at their right ends.
func chart(title, yLabel string, lines []series) (*plot.Plot, error) {
	p := canvas(title, "session", yLabel)
	sessions := 0
	for _, s := range lines {
		sessions = max(sessions, len(s.y))
	}
	p.Add(grid())
	for _, s := range lines {
		if err := s.drawBand(p); err != nil {
			return nil, err
		}
	}
	// Published lines stay behind ours.
	ordered := slices.Clone(lines)
	slices.SortStableFunc(ordered, func(a, b series) int { return rank(b) - rank(a) })
	for _, s := range ordered {
		if err := s.draw(p); err != nil {
			return nil, err
		}
	}
	p.X.Tick.Marker = wholeNumbers(sessions)
	p.Y.Min, p.Y.Max = limits(lines)
	p.Y.Tick.Marker = roundTicks(p.Y.Min, p.Y.Max)
	p.X.Min, p.X.Max = 0.8, float64(sessions)+0.08+labelRoom(lines)*max(float64(sessions)-1, 1)
	return p, label(p, lines, sessions)
}

func rank(s series) int {
	if s.thin {
		return 1
	}
	return 0
}

// labelRoom is the share of the width that the labels take.
func labelRoom(lines []series) float64 {
	longest := 0
	for _, s := range lines {
		longest = max(longest, len([]rune(s.label)))
	}
	return 0.06 + 0.0125*float64(longest)
}

// limits returns round values around everything that is drawn.
func limits(lines []series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range lines {
		for i, y := range s.y {
			if math.IsNaN(y) {
				continue
			}
			b := 0.0
			if s.band != nil {
				b = s.band[i]
			}
			low, high = min(low, y-b), max(high, y+b)
		}
	}
	if low > high {
		return 0, 1
	}
	step := 5.0
	if high-low < 10 {
		step = 1
	}
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	if low == high {
		high += step
	}
	return low, high
}

func (s series) points() plotter.XYs {
	var xys plotter.XYs
	for i, y := range s.y {
		if !math.IsNaN(y) {
			xys = append(xys, plotter.XY{X: float64(i + 1), Y: y})
		}
	}
	return xys
}

func (s series) draw(p *plot.Plot) error {
	xys := s.points()
	if len(xys) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width = s.colour, vg.Points(2)
	marks.Color, marks.Radius, marks.Shape = s.colour, vg.Points(2.6), draw.CircleGlyph{}
	if s.dashed {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	if s.thin {
		line.Width, marks.Radius = vg.Points(0.9), vg.Points(1.5)
	}
	p.Add(line, marks)
	return nil
}

func (s series) drawBand(p *plot.Plot) error {
	if s.band == nil {
		return nil
	}
	var outline plotter.XYs
	for i, y := range s.y {
		outline = append(outline, plotter.XY{X: float64(i + 1), Y: y + s.band[i]})
	}
	for i := len(s.y) - 1; i >= 0; i-- {
		outline = append(outline, plotter.XY{X: float64(i + 1), Y: s.y[i] - s.band[i]})
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	shade := s.colour
	shade.A = 40
	band.Color, band.LineStyle.Width = shade, 0
	p.Add(band)
	return nil
}
