package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot"
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
}

// margin around a figure, in points.
const margin = 9

// Encode returns the picture as "png" or "svg".
func (f Figure) Encode(format string) ([]byte, error) {
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
