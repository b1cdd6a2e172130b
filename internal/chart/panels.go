package chart

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
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
func Panels(name, title string, low, high float64, rows [][]Panel) (Figure, error) {
	g, err := newMosaic(rows)
	if err != nil {
		return Figure{}, fmt.Errorf("draw %s: %w", name, err)
	}
	p := Canvas(title, "", "")
	columns, height := g.Dims()
	p.Add(plotter.NewImage(g.picture(), -0.5, -0.5, float64(columns)-0.5, float64(height)-0.5))
	for i, row := range rows {
		for j, panel := range row {
			if err := g.decorate(p, panel, i, j, low, high); err != nil {
				return Figure{}, fmt.Errorf("draw %s: %w", name, err)
			}
		}
	}
	p.HideAxes()
	side := vg.Length(150)
	return Figure{name, p, side*vg.Length(g.across) + 20, side*1.1*vg.Length(len(rows)) + 40}, nil
}

// mosaic lays out panels with gaps between them.
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

func (m mosaic) Dims() (columns, rows int) {
	return m.across * (m.n + m.gapX), len(m.rows) * (m.n + m.gapTop)
}

// magnify is the side of one value's square in pixels.
const magnify = 4

// picture paints each value as a square of an image, which has no seams, unlike
// adjacent shapes.
func (m mosaic) picture() image.Image {
	columns, rows := m.Dims()
	img := image.NewNRGBA(image.Rect(0, 0, magnify*columns, magnify*rows))
	colours := Gradient(256, [3]float64{38, 20, 90}, [3]float64{45, 90, 140}, [3]float64{60, 160, 140}, [3]float64{160, 210, 100}, [3]float64{255, 245, 180}).Colors()
	for y := range magnify * rows {
		for x := range magnify * columns {
			v := m.Z(x/magnify, rows-1-y/magnify)
			if math.IsNaN(v) {
				img.Set(x, y, color.White)
				continue
			}
			img.Set(x, y, colours[int(255*min(max(v, 0), 1))])
		}
	}
	return img
}

// Z looks up the panel; row 0 is at the bottom.
func (m mosaic) Z(column, row int) float64 {
	i, j := len(m.rows)-1-row/(m.n+m.gapTop), column/(m.n+m.gapX)
	y, x := row%(m.n+m.gapTop), column%(m.n+m.gapX)
	if j >= len(m.rows[i]) || y >= m.n || x >= m.n {
		return math.NaN()
	}
	return m.rows[i][j].Z[y][x]
}

// decorate draws the points and the title of a panel.
func (m mosaic) decorate(p *plot.Plot, panel Panel, i, j int, low, high float64) error {
	left, bottom := float64(j*(m.n+m.gapX)), float64((len(m.rows)-1-i)*(m.n+m.gapTop))
	scale := float64(m.n-1) / (high - low)
	for _, s := range panel.Points {
		var xys plotter.XYs
		for _, xy := range s.XY {
			if min(xy[0], xy[1]) >= low && max(xy[0], xy[1]) <= high {
				xys = append(xys, plotter.XY{X: left + (xy[0]-low)*scale, Y: bottom + (xy[1]-low)*scale})
			}
		}
		if len(xys) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		marks.Color, marks.Radius, marks.Shape = s.Colour, vg.Points(1.2), draw.CircleGlyph{}
		if s.Ring {
			marks.Radius, marks.Shape = vg.Points(2.2), draw.RingGlyph{}
		}
		p.Add(marks)
	}
	return Write(p, panel.Title, color.NRGBA{40, 40, 40, 255}, left, bottom+float64(m.n)+float64(m.gapTop)/2.5)
}
