package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix draws square cells with their numbers, row by row from the top: blue
// above zero, orange below, white at zero, and light enough for black text.
// names labels rows and columns; NaN cells are grey.
func Matrix(name string, a Axes, names []string, cells [][]float64) (Figure, error) {
	if err := square(len(names), cells); err != nil {
		return Figure{}, fmt.Errorf("draw %s: %w", name, err)
	}
	p := Canvas(a.Title, a.X, a.Y)
	g := field{cells}
	heat := plotter.NewHeatMap(g, Gradient(128, [3]float64{230, 130, 60}, [3]float64{255, 255, 255}, [3]float64{90, 165, 220}))
	bound := g.largest()
	heat.Min, heat.Max, heat.NaN = -bound, bound, color.Gray{225}
	p.Add(heat)
	if err := g.write(p); err != nil {
		return Figure{}, fmt.Errorf("draw %s: %w", name, err)
	}
	p.X.Tick.Marker = Labelled(names)
	down := Labelled(names)
	for i := range down {
		down[i].Value = float64(len(names) - i)
	}
	p.Y.Tick.Marker = down
	side := vg.Length(170 + 50*len(names))
	return Figure{name, p, side, side}, nil
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

// write writes the number into every cell.
func (f field) write(p *plot.Plot) error {
	var texts plotter.XYLabels
	for i, row := range f.cells {
		for j, v := range row {
			if math.IsNaN(v) {
				continue
			}
			texts.XYs = append(texts.XYs, plotter.XY{X: f.X(j), Y: f.Y(len(f.cells) - 1 - i)})
			texts.Labels = append(texts.Labels, strconv.FormatFloat(v, 'f', 2, 64))
		}
	}
	if len(texts.XYs) == 0 {
		return nil
	}
	l, err := plotter.NewLabels(texts)
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i].XAlign, l.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
		l.TextStyle[i].Font.Size, l.TextStyle[i].Font.Variant = vg.Points(10), sans
	}
	p.Add(l)
	return nil
}
