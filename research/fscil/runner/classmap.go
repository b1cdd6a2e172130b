package runner

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// classMap returns the map of one run: one row per class, session by session
// from the top, one column per session, accuracy as colour.
func classMap(r fscil.Result, run fscil.RunDetails) chart.Figure {
	cells := grades{run.ClassAccuracy}
	columns, rows := cells.Dims()
	title := fmt.Sprintf("Accuracy of every class · %s on %s", r.Name(), r.Dataset)
	height := vg.Length(min(max(120+4*rows, 300), 900))
	f := chart.New("classes", title, "after session", "classes, by the session that brought them", 420, height)
	if columns == 0 || rows == 0 {
		f.Fail(errors.New("no classes"))
		return *f
	}
	colours := chart.Gradient(64, [3]float64{255, 247, 236}, [3]float64{253, 187, 132}, [3]float64{199, 64, 60},
		[3]float64{72, 6, 34})
	heat := plotter.NewHeatMap(cells, colours)
	heat.Min, heat.Max, heat.NaN = 0, 1, color.Gray{240}
	f.Plot.Add(heat)
	f.Plot.X.Tick.Marker = chart.Whole(1, columns)
	f.Plot.Y.Tick.Marker = sessionTicks(run.Classes, rows, 14*float64(rows)/float64(height-120))
	left, bottom := float64(columns)+0.9, -0.5
	right := left + 0.045*float64(columns)
	f.Bar(colours.Colors(), left, bottom, right, bottom+float64(rows), "0 %", "25 %", "50 %", "75 %", "100 %")
	return *f
}

// grades is a plotter.GridXYZ: the first class is the top row.
type grades struct{ accuracy [][]float64 }

func (g grades) Dims() (columns, rows int) {
	if len(g.accuracy) == 0 {
		return 0, 0
	}
	return len(g.accuracy), len(g.accuracy[len(g.accuracy)-1])
}

func (g grades) Z(column, row int) float64 {
	_, rows := g.Dims()
	class := rows - 1 - row
	if class >= len(g.accuracy[column]) {
		return math.NaN()
	}
	return g.accuracy[column][class]
}

func (g grades) X(column int) float64 { return float64(column + 1) }
func (g grades) Y(row int) float64    { return float64(row) }

// sessionTicks labels the middle of each session's classes with the session
// number, where the label above it is at least a gap away.
func sessionTicks(classes [][]string, rows int, gap float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	before, above := 0, math.Inf(1)
	for s, names := range classes {
		middle := float64(rows) - float64(before) - float64(len(names)+1)/2
		if above-middle >= gap {
			ticks, above = append(ticks, plot.Tick{Value: middle, Label: fmt.Sprint(s + 1)}), middle
		}
		before += len(names)
	}
	return ticks
}
