package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// canvas returns an empty plot in the style of all figures.
func canvas(title, xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	p.Title.Padding = vg.Points(10)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.X.LineStyle.Width = 0 // it would run under the labels at the right
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Font.Variant = sans
	}
	return p
}

const sans = "Sans"

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Width = 0
	g.Horizontal.Color = color.Gray{225}
	return g
}

// wholeNumbers are ticks at 1 … n.
func wholeNumbers(n int) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i := 1; i <= n; i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
	}
	return ticks
}

// roundTicks are at most nine ticks at multiples of a round number.
func roundTicks(low, high float64) plot.ConstantTicks {
	const most = 8
	step := 100.0
	for _, s := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50} {
		if (high-low)/s <= most {
			step = s
			break
		}
	}
	var ticks plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'g', 4, 64)}) // + 0 turns −0 into 0
	}
	return ticks
}
