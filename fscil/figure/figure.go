package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-90d10d51/pipeline/fscil"
)

// A Figure is a picture ready to be written.
type Figure struct {
	// Name is the file's name without its ending.
	Name string
	plot *plot.Plot
	// width and height in points.
	width, height vg.Length
}

// Encode returns the picture as "png" or "svg".
func (f Figure) Encode(format string) ([]byte, error) {
	var buf bytes.Buffer
	canvas, err := draw.NewFormattedCanvas(f.width, f.height, format)
	if err == nil {
		white := draw.New(canvas)
		white.FillPolygon(color.White, white.ClipPolygonXY([]vg.Point{{}, {X: f.width}, {X: f.width, Y: f.height}, {Y: f.height}}))
		f.plot.Draw(draw.Crop(white, margin, -margin, margin, -margin))
		_, err = canvas.WriteTo(&buf)
	}
	if err != nil {
		return nil, fmt.Errorf("draw %s.%s: %w", f.Name, format, err)
	}
	return buf.Bytes(), nil
}

const (
	chartWidth  = 560
	chartHeight = 380
	margin      = 9
)

// All returns the figures that compare results: curves, base_novel and
// forgetting. The results must have the same number of sessions.
func All(results []fscil.Result, published []fscil.PublishedRow) ([]Figure, error) {
	var figures []Figure
	known := printed(published, results)
	for _, f := range []struct {
		name, title, yLabel string
		lines               []series
	}{
		{"curves", "Accuracy on all classes so far", "accuracy (%)", append(accuracy(results), known...)},
		{"base_novel", "Base classes against novel classes", "accuracy (%)", baseAgainstNovel(results)},
		{"forgetting", "Average forgetting of earlier sessions", "forgetting (points)", forgetting(results)},
	} {
		p, err := chart(fmt.Sprintf("%s · %s, track %s", f.title, results[0].Dataset, results[0].Track), f.yLabel, f.lines)
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", f.name, err)
		}
		if f.name == "curves" && slices.ContainsFunc(known, func(s series) bool { return s.dashed }) {
			p.X.Label.Text += " (dashed: only the first and the last are published)"
		}
		figures = append(figures, Figure{f.name, p, chartWidth, chartHeight})
	}
	return figures, nil
}

func accuracy(results []fscil.Result) []series {
	lines := make([]series, len(results))
	for i, r := range results {
		lines[i] = series{label: r.Method, colour: palette(i), y: each(r, func(s fscil.SessionResult) float64 { return s.Accuracy })}
		if r.Runs > 1 {
			lines[i].label += fmt.Sprintf(", %d runs ± SEM", r.Runs)
			lines[i].band = each(r, func(s fscil.SessionResult) float64 { return *s.AccuracySEM })
		}
	}
	return lines
}

// each returns a value of every session in percent.
func each(r fscil.Result, value func(fscil.SessionResult) float64) []float64 {
	y := make([]float64, len(r.Sessions))
	for i, s := range r.Sessions {
		y[i] = 100 * value(s)
	}
	return y
}

// printed are the published rows that have at least one session.
func printed(rows []fscil.PublishedRow, results []fscil.Result) []series {
	sessions := len(results[0].Sessions)
	var lines []series
	for _, r := range rows {
		s := series{label: r.Method, colour: color.NRGBA{135, 135, 135, 255}, thin: true, y: r.Curve(sessions)}
		s.dashed = len(r.Accuracy) == 0
		if len(s.points()) > 0 {
			lines = append(lines, s)
		}
	}
	return lines
}

func baseAgainstNovel(results []fscil.Result) []series {
	var lines []series
	for i, r := range results {
		lines = append(lines,
			series{label: r.Method + ", base", colour: palette(i), y: each(r, func(s fscil.SessionResult) float64 { return s.Base })},
			series{label: r.Method + ", novel", colour: palette(i), dashed: true, y: each(r, func(s fscil.SessionResult) float64 {
				if s.Novel == nil {
					return math.NaN()
				}
				return *s.Novel
			})})
	}
	return lines
}

func forgetting(results []fscil.Result) []series {
	lines := make([]series, len(results))
	for i, r := range results {
		lines[i] = series{label: r.Method, colour: palette(i), y: each(r, func(s fscil.SessionResult) float64 { return s.Forgetting })}
	}
	return lines
}
