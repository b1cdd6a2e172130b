package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix draws square cells with their numbers, row by row from the top: blue
// above zero, orange below, white at zero, and light enough for black text.
// names labels rows and columns; NaN cells are grey.
func Matrix(name string, a Axes, names []string, cells [][]float64) Figure {
	side := vg.Length(170 + 50*len(names))
	f := New(name, a.Title, a.X, a.Y, side, side)
	if f.Fail(square(len(names), cells)); f.Err != nil {
		return *f
	}
	g := field{cells}
	heat := plotter.NewHeatMap(g, Gradient(128, [3]float64{230, 130, 60}, [3]float64{255, 255, 255}, [3]float64{90, 165, 220}))
	bound := g.largest()
	heat.Min, heat.Max, heat.NaN = -bound, bound, color.Gray{225}
	f.Plot.Add(heat)
	f.numbers(g)
	f.Plot.X.Tick.Marker = Labelled(names)
	down := Labelled(names)
	for i := range down {
		down[i].Value = float64(len(names) - i)
	}
	f.Plot.Y.Tick.Marker = down
	return *f
}

func square(n int, cells [][]float64) error {
	if n == 0 || len(cells) != n {
		return fmt.Errorf("%d rows for %d names", len(cells), n)
	}
	for i, row := range cells {
		if len(row) != n {
			return fmt.Errorf("row %d has %d cells, want %d", i+1, len(row), n)
		}
	}
	return nil
}

// field is a plotter.GridXYZ: the first row is at the top.
type field struct{ cells [][]float64 }

func (f field) Dims() (columns, rows int) { return len(f.cells), len(f.cells) }
func (f field) Z(column, row int) float64 { return f.cells[len(f.cells)-1-row][column] }
func (f field) X(column int) float64      { return float64(column + 1) }
func (f field) Y(row int) float64         { return float64(row + 1) }

// largest returns the largest absolute value of a cell, 1 if all are zero.
func (f field) largest() float64 {
	var most float64
	for _, row := range f.cells {
		for _, v := range row {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
	}
	if most == 0 {
		return 1
	}
	return most
}

// numbers writes the number into every cell.
func (f *Figure) numbers(g field) {
	var texts plotter.XYLabels
	for i, row := range g.cells {
		for j, v := range row {
			if !math.IsNaN(v) {
				texts.XYs = append(texts.XYs, plotter.XY{X: g.X(j), Y: g.Y(len(g.cells) - 1 - i)})
				texts.Labels = append(texts.Labels, strconv.FormatFloat(v, 'f', 2, 64))
			}
		}
	}
	if len(texts.XYs) > 0 {
		f.texts(texts, color.Black, draw.XCenter, 10)
	}
}
