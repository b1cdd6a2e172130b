// Package chart draws all figures in one style: lines labelled at their ends,
// matrices, panels and dendrograms. Colours are those of Okabe and Ito, which
// colour-blind readers can tell apart.
//
// The same values give the same bytes.
package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"

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

	title  string
	panels [][]*plot.Plot // below the title, in place of the plot
	bar    *plot.Plot     // at the right
}

const (
	margin = 9 // around a figure, in points
	sans   = "Sans"
)

// newFigure returns an empty figure in the style of all figures.
func newFigure(name, title, xLabel, yLabel string, width, height vg.Length) *Figure {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.X.LineStyle.Width = 0 // it would run under the labels at the right
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label,
		&p.Y.Tick.Label} {
		s.Font.Variant = sans
	}
	return &Figure{Name: name, Plot: p, Width: width, Height: height, title: title}
}

func (f *Figure) fail(err error) {
	if err != nil && f.Err == nil {
		f.Err = fmt.Errorf("draw %s: %w", f.Name, err)
	}
}

// texts writes labels at their points.
func (f *Figure) texts(at plotter.XYs, labels []string, align text.XAlignment, size float64) {
	style := f.small(size)
	style.XAlign = align
	f.Plot.Add(&plotter.Labels{XYs: at, Labels: labels, TextStyle: slices.Repeat([]text.Style{style}, len(labels))})
}

// small returns the style of text within a plot, vertically centred.
func (f *Figure) small(size float64) text.Style {
	s := f.Plot.X.Tick.Label
	s.Rotation, s.XAlign, s.YAlign, s.Font.Size = 0, draw.XLeft, draw.YCenter, vg.Points(size)
	return s
}

// heading returns the title, broken where it is wider than the figure at the dots between
// its parts if it has any; what is still too wide is shortened.
func (f Figure) heading() string {
	style, room := f.Plot.Title.TextStyle, f.Width-2*margin
	var lines []string
	for part := range strings.SplitSeq(strings.ReplaceAll(f.title, "\n", dot), dot) {
		n := len(lines)
		if n > 0 && style.Width(lines[n-1]+dot+part) <= room {
			lines[n-1] += dot + part
		} else {
			lines = append(lines, shorten(part, style, room))
		}
	}
	return strings.Join(lines, "\n")
}

const dot = " · "

// shorten cuts text that is wider than room and ends it with an ellipsis.
func shorten(text string, style text.Style, room vg.Length) string {
	letters := []rune(text)
	for style.Width(text) > room && len(letters) > 0 {
		letters = letters[:len(letters)-1]
		text = string(letters) + "…"
	}
	return text
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
		white.FillPolygon(color.White,
			white.ClipPolygonXY([]vg.Point{{}, {X: f.Width}, {X: f.Width, Y: f.Height}, {Y: f.Height}}))
		f.Draw(white)
		_, err = canvas.WriteTo(&buf)
	}
	if err != nil {
		return nil, fmt.Errorf("draw %s.%s: %w", f.Name, format, err)
	}
	if format == "svg" {
		return bytes.Map(inXML, buf.Bytes()), nil
	}
	return buf.Bytes(), nil
}

// inXML replaces the characters that XML forbids, even as references, which a name may have.
func inXML(r rune) rune {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= ' ' && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd, r >= 0x10000:
		return r
	}
	return '\ufffd'
}

// Draw draws the figure within its margins.
func (f Figure) Draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if title := f.heading(); title != "" {
		style := f.Plot.Title.TextStyle
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y + style.FontExtents().Descent}, title)
		c.Max.Y -= style.Rectangle(title).Size().Y + vg.Points(10)
	}
	if f.bar != nil {
		f.bar.Draw(draw.Crop(c, c.Max.X-c.Min.X-barRoom+8, 0, 0, 0))
		c = draw.Crop(c, 0, -barRoom, 0, 0)
	}
	if f.panels == nil {
		f.Plot.Draw(c)
		return
	}
	tiles := draw.Tiles{Rows: len(f.panels), Cols: len(f.panels[0]), PadX: 6, PadY: 6}
	for i, row := range plot.Align(f.panels, tiles, c) {
		for j, panel := range row {
			if p := f.panels[i][j]; p != nil {
				p.Draw(panel)
			}
		}
	}
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

// A scale is a palette.Palette.
type scale []color.Color

func (s scale) Colors() []color.Color { return s }

// Gradient returns n colours that pass through the stops (red, green, blue) at
// equal distances.
func Gradient(n int, stops ...[3]float64) []color.Color {
	s := make([]color.Color, n)
	for i := range s {
		t := float64(i) / float64(n-1) * float64(len(stops)-1)
		k := min(int(t), len(stops)-2)
		t -= float64(k)
		var c [3]uint8
		for j := range c {
			c[j] = uint8(math.Round(stops[k][j]*(1-t) + stops[k+1][j]*t))
		}
		s[i] = color.NRGBA{c[0], c[1], c[2], 255}
	}
	return s
}
