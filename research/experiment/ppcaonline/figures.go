package ppcaonline

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// figures draws the paper's figures, and for Figures 1 and 2 also the
// differences from plain online EM.
func (c Config) figures(seeds [][]trial, chosen []Row, r results) []chart.Figure {
	if c.Figure > 2 {
		return c.bySetting(r)
	}
	var lines []chart.Series
	for i, curve := range r.Curves {
		lines = append(lines, chart.Series{Label: curve.text(false), X: r.Steps, Y: overClasses(curve.Test),
			Colour: chart.Palette(i), Bare: true})
	}
	axes := chart.Axes{Title: "Online PPCA, test data of all classes · " + c.subject(), X: "step",
		Y: "log-likelihood (nats per example)", Events: c.starts()}
	return []chart.Figure{chart.Lines(fmt.Sprintf("figure%d", c.Figure), axes, lines), c.differences(seeds, chosen)}
}

// starts returns the first steps of the classes after the first.
func (c Config) starts() []float64 {
	if c.Figure == 1 {
		return nil
	}
	var steps []float64
	for k := 1; k < c.Classes; k++ {
		steps = append(steps, float64(k*(c.Train/c.Classes)))
	}
	return steps
}

// overClasses returns the mean over classes at every point.
func overClasses(test [][]float64) []float64 {
	y := make([]float64, len(test[0]))
	for _, row := range test {
		floats.AddScaled(y, 1/float64(len(test)), row)
	}
	return y
}

// differences draws the curves of all forms with the first γ minus that of
// plain online EM, averaged over seeds. Forms shown in the other figure have a
// band of one standard deviation.
func (c Config) differences(seeds [][]trial, chosen []Row) chart.Figure {
	none := c.plain(c.Gamma[0])
	var lines []chart.Series
	for _, r := range chosen {
		if r.Policy == engine.None || r.Gamma != c.Gamma[0] {
			continue
		}
		s := chart.Series{Label: short(r.variant), X: c.steps(), Colour: chart.Palette(len(lines) % 5), Bare: true,
			Dashed: r.Policy == engine.Class}
		for point := range s.X {
			d := c.each(seeds, r.index, none, func(t trial) float64 {
				return stat.Mean(table.Collect(t.Test, func(row []float64) float64 { return row[point] }), nil)
			})
			s.Y = append(s.Y, d.Mean)
			if r.RStep == c.RStep[0] && (r.Fisher == c.Fisher[0] || r.Fisher == "") {
				s.Band = append(s.Band, d.SD)
			}
		}
		lines = append(lines, s)
	}
	axes := chart.Axes{
		Title: "Difference from plain online EM on the same seed · " + c.subject(),
		X:     "step (band: one standard deviation over seeds)",
		Y:     "difference (nats per example)", Events: c.starts(),
	}
	return chart.Lines(fmt.Sprintf("figure%d_differences", c.Figure), axes, lines)
}

// short names a form within a figure.
func short(s variant) string {
	text := s.Policy + ", " + s.RStep
	if s.Fisher != "" {
		text += "/" + s.Fisher
	}
	return text
}

// bySetting draws one picture per setting: in Figure 3 with one line per class,
// in Figure 4 a matrix.
func (c Config) bySetting(r results) []chart.Figure {
	var figures []chart.Figure
	for i, curve := range r.Curves {
		name := fmt.Sprintf("figure%d_%d_%s", c.Figure, i+1, curve.Policy)
		if c.Figure == 4 {
			figures = append(figures, chart.Matrix(name,
				chart.Axes{Title: curve.text(false), X: "learned second", Y: "learned first"}, r.Classes, curve.Test))
			continue
		}
		var lines []chart.Series
		for k, row := range curve.Test {
			lines = append(lines,
				chart.Series{Label: r.Classes[k], X: r.Steps, Y: row, Colour: chart.Palette(k), Bare: true})
		}
		title := "Online PPCA, test data by class · " + curve.text(false)
		figures = append(figures, chart.Lines(name, chart.Axes{Title: title, X: "step",
			Y: "log-likelihood (nats per example)", Events: c.starts()}, lines))
	}
	return figures
}
