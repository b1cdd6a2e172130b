package chart

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Canvas returns an empty plot in the style of all figures.
func Canvas(title, xLabel, yLabel string) *plot.Plot {
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

// WholeNumbers are the labels 1 … n.
func WholeNumbers(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	return labels
}

// Labelled are ticks at 1, 2, ….
func Labelled(labels []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, l := range labels {
		ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: l})
	}
	return ticks
}

// roundStep is 1, 2 or 5 times a power of ten, so that at most eight fit.
func roundStep(reach float64) float64 {
	const most = 8
	if !(reach > 0) {
		reach = 1
	}
	decade := math.Pow(10, math.Floor(math.Log10(reach/most)))
	for _, s := range []float64{1, 2, 5} {
		if reach/(s*decade) <= most*(1+1e-9) {
			return s * decade
		}
	}
	return 10 * decade
}

// roundTicks are at most nine ticks at multiples of a round number.
func roundTicks(low, high float64) plot.ConstantTicks {
	step := roundStep(high - low)
	var ticks plot.ConstantTicks
	for i := math.Ceil(low/step - 1e-9); i*step <= high+1e-9*step; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'g', 6, 64)}) // + 0 turns −0 into 0
	}
	return ticks
}
