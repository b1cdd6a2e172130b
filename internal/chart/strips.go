package chart

import (
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
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
	var names plot.ConstantTicks
	var at plotter.XYs
	var notes []string
	for i, s := range strips {
		bottom := float64(len(strips) - 1 - i)
		names = append(names, plot.Tick{Value: bottom + 0.4, Label: shorten(s.Label, f.Plot.Y.Tick.Label, labelRoom)})
		at = append(at, plotter.XY{X: 1.01 * float64(longest), Y: bottom + 0.4})
		notes = append(notes, shorten(s.Note, f.small(9), noteRoom))
		f.strip(s, bottom)
	}
	f.texts(at, notes, draw.XLeft, 9)
	var across plot.ConstantTicks
	for x := 0; x <= longest; x += step {
		across = append(across, plot.Tick{Value: float64(x), Label: strconv.Itoa(x)})
	}
	// Texts beyond the axis would not be drawn.
	right := float64(max(1, longest)) * (1 + noteRoom/float64(width-labelRoom-noteRoom))
	f.Plot.X.Tick.Marker, f.Plot.X.Min, f.Plot.X.Max = across, 0, right
	f.Plot.Y.Tick.Marker, f.Plot.Y.Min, f.Plot.Y.Max = names, 0, float64(max(1, len(strips)))
	f.Plot.Y.LineStyle.Width, f.Plot.Y.Tick.LineStyle.Width = 0, 0
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
