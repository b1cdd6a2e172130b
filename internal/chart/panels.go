package chart

import (
	"fmt"
	"image"
	"image/color"
	pixels "image/draw"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// Panels draws panels in rows from the top, each showing the square from low to
// high in both directions; 1 is brightest.
func Panels(name, title string, low, high float64, rows [][]Panel) Figure {
	f := New(name, title, "", "", 0, 0)
	m, err := newMosaic(rows)
	if err != nil {
		f.Fail(err)
		return *f
	}
	columns, height := m.size()
	f.Plot.Add(plotter.NewImage(m.picture(), -0.5, -0.5, float64(columns)-0.5, float64(height)-0.5))
	scale := float64(m.n-1) / (high - low)
	for i, row := range rows {
		for j, panel := range row {
			left, bottom := m.place(i, j)
			x, y := float64(left), float64(bottom)
			for _, p := range panel.Points {
				f.points(p, low, high, func(v [2]float64) plotter.XY { return plotter.XY{X: x + (v[0]-low)*scale, Y: y + (v[1]-low)*scale} })
			}
			f.Text(panel.Title, color.NRGBA{40, 40, 40, 255}, x, y+float64(m.n)+float64(m.gapTop)/2.5)
		}
	}
	f.Plot.HideAxes()
	const side = 150
	f.Width, f.Height = side*vg.Length(m.across)+20, side*1.1*vg.Length(len(rows))+40
	return *f
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
	rows         [][]Panel
	across, n    int
	gapX, gapTop int
}

func newMosaic(rows [][]Panel) (mosaic, error) {
	if len(rows) == 0 || len(rows[0]) == 0 || len(rows[0][0].Z) < 2 {
		return mosaic{}, fmt.Errorf("no panels")
	}
	m := mosaic{rows: rows, n: len(rows[0][0].Z)}
	for _, r := range rows {
		m.across = max(m.across, len(r))
		for _, p := range r {
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
	colours := Gradient(256, [3]float64{38, 20, 90}, [3]float64{45, 90, 140}, [3]float64{60, 160, 140}, [3]float64{160, 210, 100}, [3]float64{255, 245, 180}).Colors()
	for i, row := range m.rows {
		for j, panel := range row {
			left, bottom := m.place(i, j)
			for y, values := range panel.Z {
				for x, v := range values {
					if !math.IsNaN(v) {
						at := image.Pt(magnify*(left+x), magnify*(rows-1-bottom-y))
						pixels.Draw(img, image.Rectangle{at, at.Add(image.Pt(magnify, magnify))}, image.NewUniform(colours[int(255*min(max(v, 0), 1))]), image.Point{}, pixels.Src)
					}
				}
			}
		}
	}
	return img
}
