package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A Figure is a picture ready to be written.
type Figure struct {
	// Name is the file name without its extension.
	Name string
	// Plot is the plot to draw.
	Plot *plot.Plot
	// Width and Height are in points.
	Width, Height vg.Length
	// Err is the first error of drawing; Encode and Write return it.
	Err error
}

const (
	margin = 9 // around a figure, in points
	sans   = "Sans"
)

// New returns an empty figure in the style of all figures.
func New(name, title, xLabel, yLabel string, width, height vg.Length) *Figure {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	p.Title.Padding = vg.Points(10)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.X.LineStyle.Width = 0 // it would run under the labels at the right
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Font.Variant = sans
	}
	return &Figure{Name: name, Plot: p, Width: width, Height: height}
}

// Fail sets Err unless there is an earlier error.
func (f *Figure) Fail(err error) {
	if err != nil && f.Err == nil {
		f.Err = fmt.Errorf("draw %s: %w", f.Name, err)
	}
}

func (f *Figure) line(xys plotter.XYs, style draw.LineStyle) {
	if line, err := plotter.NewLine(xys); err != nil {
		f.Fail(err)
	} else {
		line.LineStyle = style
		f.Plot.Add(line)
	}
}

func (f *Figure) marks(xys plotter.XYs, style draw.GlyphStyle) {
	if marks, err := plotter.NewScatter(xys); err != nil {
		f.Fail(err)
	} else {
		marks.GlyphStyle = style
		f.Plot.Add(marks)
	}
}

// Area fills a polygon.
func (f *Figure) Area(outline plotter.XYs, fill color.Color) {
	if area, err := plotter.NewPolygon(outline); err != nil {
		f.Fail(err)
	} else {
		area.Color, area.LineStyle.Width = fill, 0
		f.Plot.Add(area)
	}
}

// Text puts text to the right of a point, vertically centred.
func (f *Figure) Text(text string, colour color.Color, x, y float64) {
	f.texts(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text}}, colour, draw.XLeft, 9)
}

func (f *Figure) texts(labels plotter.XYLabels, colour color.Color, align text.XAlignment, size float64) {
	l, err := plotter.NewLabels(labels)
	if err != nil {
		f.Fail(err)
		return
	}
	for i := range l.TextStyle {
		s := &l.TextStyle[i]
		s.Color, s.XAlign, s.YAlign, s.Font.Size, s.Font.Variant = colour, align, draw.YCenter, vg.Points(size), sans
	}
	f.Plot.Add(l)
}

// Encode returns the picture as "png" or "svg".
func (f Figure) Encode(format string) ([]byte, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	var buf bytes.Buffer
	canvas, err := draw.NewFormattedCanvas(f.Width, f.Height, format)
	if err == nil {
		white := draw.New(canvas)
		white.FillPolygon(color.White, white.ClipPolygonXY([]vg.Point{{}, {X: f.Width}, {X: f.Width, Y: f.Height}, {Y: f.Height}}))
		f.Plot.Draw(draw.Crop(white, margin, -margin, margin, -margin))
		_, err = canvas.WriteTo(&buf)
	}
	if err != nil {
		return nil, fmt.Errorf("draw %s.%s: %w", f.Name, format, err)
	}
	return buf.Bytes(), nil
}

// Write writes the picture into a folder as PNG and as SVG.
func (f Figure) Write(dir string) error {
	for _, format := range []string{"png", "svg"} {
		picture, err := f.Encode(format)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFile(filepath.Join(dir, f.Name+"."+format), picture); err != nil {
			return err
		}
	}
	return nil
}
