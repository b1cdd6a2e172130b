package chart

import (
	"image/color"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Strip is a row of bars: value i stands from x = i to i + 1.
type Strip struct {
	// Label is at its left, Note at its right.
	Label, Note string
	Values      []float64 // none negative
}

// Sum returns the sum of the values.
func (s Strip) Sum() float64 { return floats.Sum(s.Values) }

const (
	stripHeight = 34
	labelRoom   = 150 // for the labels at the left
	noteRoom    = 75
)

// Strips draws strips below each other, of which the highest bars are equally high. x has a tick
// at every step; y has no name.
func Strips(name string, a Axes, step int, strips []Strip) Figure {
	f := newFigure(name, a.Title, a.X, "", width, 80+stripHeight*vg.Length(len(strips)))
	longest := 0
	for _, s := range strips {
		longest = max(longest, len(s.Values))
	}
	var names, notes []string
	var at plotter.XYs
	for _, s := range slices.Backward(strips) {
		names = append(names, shorten(s.Label, f.Plot.Y.Tick.Label, labelRoom))
		at = append(at, plotter.XY{X: 1.01 * float64(longest), Y: float64(len(names))})
		notes = append(notes, shorten(s.Note, f.small(9), noteRoom))
		f.strip(s, float64(len(names))-0.4)
	}
	f.texts(at, notes, draw.XLeft, 9)
	// Texts beyond the axis would not be drawn.
	right := float64(max(1, longest)) * (1 + noteRoom/float64(width-labelRoom-noteRoom))
	x, y := &f.Plot.X, &f.Plot.Y
	x.Tick.Marker, x.Min, x.Max = multiples(0, float64(longest), float64(step)), 0, right
	y.Tick.Marker, y.Min, y.Max = labelled(names), 0.5, float64(max(1, len(strips)))+0.5
	y.LineStyle.Width, y.Tick.LineStyle.Width = 0, 0
	return *f
}

func (f *Figure) strip(s Strip, bottom float64) {
	const height, gap = 0.8, 0.08
	most := 0.0
	if len(s.Values) > 0 {
		most = slices.Max(s.Values)
	}
	for i, v := range s.Values {
		if left, right, top := float64(i)+gap, float64(i+1)-gap, bottom+height*v/most; v > 0 {
			bar := plotter.XYs{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
			f.Plot.Add(&plotter.Polygon{XYs: []plotter.XYs{bar}, Color: Palette(0)})
		}
	}
	f.Plot.Add(&plotter.Line{
		XYs:       plotter.XYs{{X: 0, Y: bottom}, {X: float64(max(1, len(s.Values))), Y: bottom}},
		LineStyle: draw.LineStyle{Color: color.Gray{190}, Width: vg.Points(0.7)},
	})
}
