package chart

import (
	"fmt"
	"image"
	"image/color"
	pixels "image/draw"
	"math"
	"strconv"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix draws square cells with their numbers, row by row from the top: blue
// above zero, orange below, white at zero, and light enough for black text.
// names labels rows and columns; NaN cells are grey. The colour bar ends at the
// least value if that is negative, at zero otherwise.
func Matrix(name string, a Axes, names []string, cells [][]float64) Figure {
	side := vg.Length(170 + 50*len(names))
	f := New(name, a.Title, a.X, a.Y, side+60, side)
	if f.Fail(square(len(names), cells)); f.Err != nil {
		return *f
	}
	g := field{cells}
	colours := Gradient(128, [3]float64{230, 130, 60}, [3]float64{255, 255, 255}, [3]float64{90, 165, 220})
	shades := plotter.NewHeatMap(g, colours)
	bound, negative := g.largest()
	shades.Min, shades.Max, shades.NaN = -bound, bound, color.Gray{225}
	f.Plot.Add(shades)
	f.numbers(g)
	left, top := float64(len(names))+0.5+12/50., float64(len(names))+0.5
	if negative {
		f.Bar(colours.Colors(), left, 0.5, left+0.25, top, number(-bound), "0", number(bound))
	} else {
		f.Bar(colours.Colors()[64:], left, 0.5, left+0.25, top, "0", number(bound/2), number(bound))
	}
	f.nameTicks(names, 50*vg.Length(len(names)))
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

// largest returns the largest absolute value of a cell, 1 if all are zero, and whether
// any is negative.
func (f field) largest() (most float64, negative bool) {
	for _, row := range f.cells {
		for _, v := range row {
			if !math.IsNaN(v) {
				most, negative = max(most, math.Abs(v)), negative || v < 0
			}
		}
	}
	if most == 0 {
		return 1, false
	}
	return most, negative
}

// number is a value as it stands in a cell.
func number(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// numbers writes the number into every cell.
func (f *Figure) numbers(g field) {
	var texts plotter.XYLabels
	for i, row := range g.cells {
		for j, v := range row {
			if !math.IsNaN(v) {
				texts.XYs = append(texts.XYs, plotter.XY{X: g.X(j), Y: g.Y(len(g.cells) - 1 - i)})
				texts.Labels = append(texts.Labels, number(v))
			}
		}
	}
	if len(texts.XYs) > 0 {
		f.texts(texts, color.Black, draw.XCenter, 10)
	}
}

// A Panel is a square of the plane: values on a grid, with points on top.
type Panel struct {
	Title string
	// Z holds values between 0 and 1, lowest row first; all panels of a figure
	// must have grids of the same size. NaN values are left white.
	Z [][]float64
	// Points are drawn over the values.
	Points []Points
}

// Points are marks of one kind.
type Points struct {
	XY     [][2]float64
	Colour color.NRGBA
	Ring   bool // not filled
}

// A Row is a row of panels with a label at its left.
type Row struct {
	Label  string
	Panels []Panel
}

// Panels draws rows of panels from the top, each showing the square from low to high
// in both directions; 1 is brightest. scale labels the colour bar at equal distances
// from 0 to 1.
func Panels(name, title string, low, high float64, scale []string, rows []Row) Figure {
	f := New(name, title, "", "", 0, 0)
	m, err := newMosaic(rows)
	if err != nil {
		f.Fail(err)
		return *f
	}
	columns, height := m.size()
	f.Plot.Add(plotter.NewImage(m.picture(), -0.5, -0.5, float64(columns)-0.5, float64(height)-0.5))
	across := float64(m.n-1) / (high - low)
	point := float64(m.n+m.gapX) / panelSide // in the plot's coordinates
	for i, row := range rows {
		for j, panel := range row.Panels {
			left, bottom := m.place(i, j)
			x, y := float64(left), float64(bottom)
			for _, p := range panel.Points {
				f.points(p, low, high, func(v [2]float64) plotter.XY {
					return plotter.XY{X: x + (v[0]-low)*across, Y: y + (v[1]-low)*across}
				})
			}
			title := shorten(panel.Title, f.small(9), panelSide-10)
			f.Text(title, color.NRGBA{40, 40, 40, 255}, x, y+float64(m.n)+float64(m.gapTop)/2.5)
		}
		_, bottom := m.place(i, 0)
		f.upright(shorten(row.Label, f.small(10), panelSide), -0.5-10*point, float64(bottom)+float64(m.n)/2)
	}
	right := float64(columns) + 4*point
	f.Bar(heat().Colors(), right, -0.5, right+10*point, float64(height-m.gapTop)-0.5, scale...)
	f.Plot.HideAxes()
	f.Width, f.Height = panelSide*vg.Length(m.across)+90, panelSide*1.1*vg.Length(len(rows))+40
	return *f
}

// panelSide is the side of a panel with the gap at its right, in points.
const panelSide = 150

// upright writes text that reads upwards, around a point.
func (f *Figure) upright(text string, x, y float64) {
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text}})
	if err != nil {
		f.Fail(err)
		return
	}
	s := f.small(10)
	s.Rotation, s.XAlign = math.Pi/2, draw.XCenter
	l.TextStyle[0] = s
	f.Plot.Add(l)
}

// heat returns the colours of panels from 0 to 1.
func heat() palette.Palette {
	return Gradient(256, [3]float64{38, 20, 90}, [3]float64{45, 90, 140}, [3]float64{60, 160, 140},
		[3]float64{160, 210, 100}, [3]float64{255, 245, 180})
}

// points draws the points of a panel that lie in the square, where at puts them.
func (f *Figure) points(p Points, low, high float64, at func([2]float64) plotter.XY) {
	var xys plotter.XYs
	for _, xy := range p.XY {
		if min(xy[0], xy[1]) >= low && max(xy[0], xy[1]) <= high {
			xys = append(xys, at(xy))
		}
	}
	style := draw.GlyphStyle{Color: p.Colour, Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}
	if p.Ring {
		style.Radius, style.Shape = vg.Points(2.2), draw.RingGlyph{}
	}
	if len(xys) > 0 {
		f.marks(xys, style)
	}
}

// mosaic lays out panels of n×n values with gaps between them.
type mosaic struct {
	rows         []Row
	across, n    int
	gapX, gapTop int
}

func newMosaic(rows []Row) (mosaic, error) {
	if len(rows) == 0 || len(rows[0].Panels) == 0 || len(rows[0].Panels[0].Z) < 2 {
		return mosaic{}, fmt.Errorf("no panels")
	}
	m := mosaic{rows: rows, n: len(rows[0].Panels[0].Z)}
	for _, r := range rows {
		m.across = max(m.across, len(r.Panels))
		for _, p := range r.Panels {
			if err := square(m.n, p.Z); err != nil {
				return m, err
			}
		}
	}
	m.gapX, m.gapTop = 1+m.n/20, 1+m.n/7
	return m, nil
}

func (m mosaic) size() (columns, rows int) {
	return m.across * (m.n + m.gapX), len(m.rows) * (m.n + m.gapTop)
}

// place returns the lower left corner of panel j of row i; row 0 is the highest.
func (m mosaic) place(i, j int) (left, bottom int) {
	return j * (m.n + m.gapX), (len(m.rows) - 1 - i) * (m.n + m.gapTop)
}

// magnify is the side of one value's square in pixels.
const magnify = 4

// picture paints each value as a square of an image, which has no seams, unlike
// adjacent shapes.
func (m mosaic) picture() image.Image {
	columns, rows := m.size()
	img := image.NewNRGBA(image.Rect(0, 0, magnify*columns, magnify*rows))
	pixels.Draw(img, img.Rect, image.White, image.Point{}, pixels.Src)
	colours := heat().Colors()
	for i, row := range m.rows {
		for j, panel := range row.Panels {
			left, bottom := m.place(i, j)
			for y, values := range panel.Z {
				for x, v := range values {
					if !math.IsNaN(v) {
						at := image.Pt(magnify*(left+x), magnify*(rows-1-bottom-y))
						pixels.Draw(img, image.Rectangle{at, at.Add(image.Pt(magnify, magnify))},
							image.NewUniform(colours[int(255*min(max(v, 0), 1))]), image.Point{}, pixels.Src)
					}
				}
			}
		}
	}
	return img
}
