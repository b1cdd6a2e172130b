package chart

import (
	"cmp"
	"image/color"
	"slices"

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
		f.line(plotter.XYs{{X: x, Y: t.end}, {X: x + gap, Y: t.y}}, draw.LineStyle{Color: t.colour, Width: vg.Points(0.4)})
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
