package chart

import (
	"fmt"
	"image"
	"image/color"
	pixels "image/draw"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cells are numbers to be drawn as colours.
type Cells struct {
	// Rows, from the top, and Columns are labels; "" is none.
	Rows, Columns []string
	// Values has a row for each of Rows; a NaN is grey.
	Values [][]float64
	// Low and High are the values of the first and the last colour, Bar the labels of
	// the colour bar at equal distances.
	Low, High float64
	Colours   []color.Color
	Bar       []string
	// Numbers writes every value into its cell.
	Numbers bool
}

// Heat draws cells in an area of about the given size.
func Heat(name string, a Axes, c Cells, wide, high vg.Length) Figure {
	f := newFigure(name, a.Title, a.X, a.Y, wide+barRoom+170, high+170)
	if f.fail(c.check()); f.Err != nil {
		return *f
	}
	shades := plotter.NewHeatMap(c, scale(c.Colours))
	shades.Min, shades.Max, shades.NaN = c.Low, c.High, color.Gray{230}
	f.Plot.Add(shades)
	if c.Numbers {
		f.numbers(c)
	}
	f.nameTicks(c.Columns, wide)
	down := slices.Clone(c.Rows)
	slices.Reverse(down)
	f.Plot.Y.Tick.Marker = labelled(down)
	f.bar = colourBar(c.Colours, c.Bar)
	return *f
}

func (c Cells) check() error {
	if len(c.Rows) == 0 || len(c.Columns) == 0 || len(c.Values) != len(c.Rows) {
		return fmt.Errorf("%d rows of cells for %d by %d names", len(c.Values), len(c.Rows), len(c.Columns))
	}
	for i, row := range c.Values {
		if len(row) != len(c.Columns) {
			return fmt.Errorf("row %d has %d cells, want %d", i+1, len(row), len(c.Columns))
		}
	}
	return nil
}

// Dims, Z, X and Y implement plotter.GridXYZ.
func (c Cells) Dims() (columns, rows int) { return len(c.Columns), len(c.Rows) }

// Z is the value at a column and a row from below.
func (c Cells) Z(column, row int) float64 { return c.Values[len(c.Rows)-1-row][column] }

// X is the place of a column.
func (c Cells) X(column int) float64 { return float64(column + 1) }

// Y is the place of a row from below.
func (c Cells) Y(row int) float64 { return float64(row + 1) }

// Matrix draws square cells with their numbers, row by row from the top: blue
// above zero, orange below, white at zero, and light enough for black text.
// names labels rows and columns. The colour bar ends at the least value if that is
// negative, at zero otherwise.
func Matrix(name string, a Axes, names []string, cells [][]float64) Figure {
	most, negative := 0.0, false
	for _, v := range slices.Concat(cells...) {
		if !math.IsNaN(v) {
			most, negative = max(most, math.Abs(v)), negative || v < 0
		}
	}
	if most == 0 {
		most = 1
	}
	c := Cells{Rows: names, Columns: names, Values: cells, High: most, Numbers: true,
		Colours: Gradient(64, [3]float64{255, 255, 255}, [3]float64{90, 165, 220}),
		Bar:     []string{"0", number(most / 2), number(most)}}
	if negative {
		c.Low, c.Bar = -most, []string{number(-most), "0", number(most)}
		c.Colours = Gradient(128, [3]float64{230, 130, 60}, [3]float64{255, 255, 255}, [3]float64{90, 165, 220})
	}
	side := 50 * vg.Length(len(names))
	return Heat(name, a, c, side, side)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func (f *Figure) numbers(c Cells) {
	var at plotter.XYs
	var labels []string
	for i := range c.Rows {
		for j := range c.Columns {
			if v := c.Z(j, i); !math.IsNaN(v) {
				at, labels = append(at, plotter.XY{X: c.X(j), Y: c.Y(i)}), append(labels, number(v))
			}
		}
	}
	f.texts(at, labels, draw.XCenter, 10)
}

// barRoom is the width of a colour bar with its labels, in points.
const barRoom = 55

// colourBar returns a plot of colours, the lowest at the bottom, with labels at equal
// distances.
func colourBar(colours []color.Color, labels []string) *plot.Plot {
	p := plot.New()
	p.HideX()
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width, p.Y.Tick.Label.Font.Variant = 0, 0, sans
	var ticks plot.ConstantTicks
	for i, l := range labels {
		ticks = append(ticks, plot.Tick{Value: float64(i) / float64(max(1, len(labels)-1)), Label: l})
	}
	p.Y.Tick.Marker = ticks
	bar := image.NewNRGBA(image.Rect(0, 0, 1, len(colours)))
	for i, c := range colours {
		bar.Set(0, len(colours)-1-i, c)
	}
	p.Add(plotter.NewImage(bar, 0, 0, 1, 1))
	return p
}

// A Panel is a square of the plane: values on a grid, with points on top.
type Panel struct {
	Title string
	// Value returns the values at the points of a square with so many points per side,
	// row by row from the lowest: between 0 and 1; a NaN is left white.
	Side  int
	Value func(at int) float64
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

// panelSide is the side of a panel with the gap around it, in points.
const panelSide = 150

// Panels draws rows of panels from the top, each showing the square from low to high
// in both directions; 1 is brightest. scale labels the colour bar at equal distances
// from 0 to 1.
func Panels(name, title string, low, high float64, scale []string, rows []Row) Figure {
	f := newFigure(name, title, "", "", 0, panelSide*1.1*vg.Length(len(rows))+40)
	colours := Gradient(256, [3]float64{38, 20, 90}, [3]float64{45, 90, 140}, [3]float64{60, 160, 140},
		[3]float64{160, 210, 100}, [3]float64{255, 245, 180})
	f.bar = colourBar(colours, scale)
	across := 0
	for _, row := range rows {
		across = max(across, len(row.Panels))
	}
	for _, row := range rows {
		plots := make([]*plot.Plot, across)
		for j, p := range row.Panels {
			if p.Side < 2 {
				f.fail(fmt.Errorf("panel %s has %d points per side", p.Title, p.Side))
				return *f
			}
			plots[j] = p.plot(low, high, colours)
		}
		if across > 0 && plots[0] != nil {
			plots[0].Y.Label.Text = shorten(row.Label, plots[0].Y.Label.TextStyle, panelSide-30)
		}
		f.panels = append(f.panels, plots)
	}
	if across == 0 {
		f.fail(fmt.Errorf("no panels"))
	}
	f.Width = panelSide*vg.Length(across) + barRoom + 20
	return *f
}

// plot draws the values as an image, which has no seams, unlike adjacent shapes, and the
// points that lie in the square.
func (p Panel) plot(low, high float64, colours []color.Color) *plot.Plot {
	f := plot.New()
	f.HideAxes()
	for _, s := range []*text.Style{&f.Title.TextStyle, &f.Y.Label.TextStyle} {
		s.Font.Variant, s.Font.Size = sans, vg.Points(9)
	}
	f.Title.Text = shorten(p.Title, f.Title.TextStyle, panelSide-20)
	n := p.Side
	const magnify = 4 // pixels of a value; SVG smooths fewer
	img := image.NewNRGBA(image.Rect(0, 0, magnify*n, magnify*n))
	for at := range n * n {
		c := color.Color(color.White)
		if v := p.Value(at); !math.IsNaN(v) {
			c = colours[int(float64(len(colours)-1)*min(max(v, 0), 1))]
		}
		corner := image.Pt(magnify*(at%n), magnify*(n-1-at/n))
		pixels.Draw(img, image.Rectangle{corner, corner.Add(image.Pt(magnify, magnify))}, image.NewUniform(c),
			image.Point{}, pixels.Src)
	}
	half := (high - low) / float64(n-1) / 2 // a value is in the middle of its square
	f.Add(plotter.NewImage(img, low-half, low-half, high+half, high+half))
	for _, points := range p.Points {
		style := draw.GlyphStyle{Color: points.Colour, Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}
		if points.Ring {
			style.Radius, style.Shape = vg.Points(2.2), draw.RingGlyph{}
		}
		var xys plotter.XYs
		for _, xy := range points.XY {
			if min(xy[0], xy[1]) >= low && max(xy[0], xy[1]) <= high {
				xys = append(xys, plotter.XY{X: xy[0], Y: xy[1]})
			}
		}
		f.Add(&plotter.Scatter{XYs: xys, GlyphStyle: style})
	}
	return f
}
