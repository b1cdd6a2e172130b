package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
func label(p *plot.Plot, lines []Series, x, reach float64) error {
	var tags []tag
	for _, s := range lines {
		if xys := s.points(); len(xys) > 0 {
			y := xys[len(xys)-1].Y
			tags = append(tags, tag{s.Label, y, y, s.Colour})
		}
	}
	spread(tags, p.Y.Min, p.Y.Max, lineShare*(p.Y.Max-p.Y.Min))
	gap := 0.03 * reach
	for _, t := range tags {
		hair, err := plotter.NewLine(plotter.XYs{{X: x, Y: t.end}, {X: x + gap, Y: t.y}})
		if err != nil {
			return err
		}
		hair.Color, hair.Width = t.colour, vg.Points(0.4)
		p.Add(hair)
		if err := Write(p, t.text, t.colour, x+1.25*gap, t.y); err != nil {
			return err
		}
	}
	return nil
}

// Write puts text to the right of a point, vertically centred.
func Write(p *plot.Plot, text string, colour color.NRGBA, x, y float64) error {
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text}})
	if err != nil {
		return err
	}
	l.TextStyle[0].Color = colour
	l.TextStyle[0].YAlign = draw.YCenter
	l.TextStyle[0].Font.Size, l.TextStyle[0].Font.Variant = vg.Points(9), sans
	p.Add(l)
	return nil
}

// spread sorts tags in ascending order and moves them at least gap apart,
// between low and high, with one pass up and one pass down.
func spread(tags []tag, low, high, gap float64) {
	slices.SortStableFunc(tags, func(a, b tag) int {
		switch {
		case a.end < b.end:
			return -1
		case a.end > b.end:
			return 1
		}
		return 0
	})
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
