package ppcaonline

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// curves returns the log-likelihoods that the figures show, on every seed.
func (c Config) curves(seeds [][]trial, chosen, drawn []variant) grid.Grid {
	index := map[variant]int{}
	for i, s := range c.grid() {
		index[s] = i
	}
	of, none := drawn, index[variant{Policy: engine.None, Gamma: c.Gamma[0]}]
	if c.Figure <= 2 {
		of = chosen
	}
	var cells grid.Grid
	for _, s := range of {
		var own grid.Grid
		for _, trials := range seeds {
			if c.Figure <= 2 {
				own.Join(c.means(s, trials[index[s]].Test, trials[none].Test))
			} else {
				own.Join(c.rows(s, trials[index[s]].Test))
			}
		}
		cells = append(cells, own...)
	}
	return cells
}

// means returns the mean over classes at every step, for Figures 1 and 2, with the first γ
// also minus that of plain online EM.
func (c Config) means(s variant, test, none [][]float64) grid.Grid {
	var cells grid.Grid
	for i, step := range c.steps() {
		at := func(row []float64) float64 { return row[i] }
		v := grid.Values{"test": stat.Mean(table.Collect(test, at), nil)}
		if s.Gamma == c.Gamma[0] {
			v["less_none"] = v["test"] - stat.Mean(table.Collect(none, at), nil)
		}
		cells.Add(s.place().And("step", step), v)
	}
	return cells
}

// rows returns every class at every step for Figure 3, every pair of classes for Figure 4.
func (c Config) rows(s variant, test [][]float64) grid.Grid {
	names, steps := c.names(), c.steps()
	var cells grid.Grid
	for k, row := range test {
		for j, v := range row {
			at := s.place().And("class", names[k])
			if c.Figure == 4 {
				at = at.And("second", names[j])
			} else {
				at = at.And("step", steps[j])
			}
			cells.Add(at, grid.Values{"test": v})
		}
	}
	return cells
}

// figures draws the paper's figures, and for Figures 1 and 2 also the
// differences from plain online EM.
func (c Config) figures(curves grid.Grid, chosen, drawn []variant) []chart.Figure {
	axes := chart.Axes{X: "step", Y: "log-likelihood (nats per example)", Events: c.starts()}
	var figures []chart.Figure
	var shown grid.Grid
	for i, s := range drawn {
		name, own := fmt.Sprintf("figure%d_%d_%s", c.Figure, i+1, s.Policy), curves.Where(s.place())
		shown = append(shown, own...)
		switch c.Figure {
		case 3:
			axes.Title = "Online PPCA, test data by class · " + s.String()
			figures = append(figures, own.Figure(name, axes, grid.Lines{
				X: "step", Y: "test", Scale: 1, By: []string{"class"}, Bare: true,
			}))
		case 4:
			figures = append(figures, c.matrix(name, s, own))
		}
	}
	if c.Figure > 2 {
		return figures
	}
	axes.Title = "Online PPCA, test data of all classes · " + c.subject()
	lines := grid.Lines{X: "step", Y: "test", Scale: 1, By: placeAxes(), Bare: true}
	return []chart.Figure{shown.Figure(fmt.Sprintf("figure%d", c.Figure), axes, lines), c.differences(curves, chosen)}
}

// matrix draws Figure 4.
func (c Config) matrix(name string, s variant, pairs grid.Grid) chart.Figure {
	names := c.names()
	cells := make([][]float64, len(names))
	for i, first := range names {
		for _, second := range names {
			cells[i] = append(cells[i], stat.Mean(pairs.Values(grid.At("class", first, "second", second), "test"), nil))
		}
	}
	return chart.Matrix(name, chart.Axes{Title: s.String(), X: "learned second", Y: "learned first"}, names, cells)
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

// differences draws the curves of all forms with the first γ minus that of
// plain online EM, averaged over seeds. Forms shown in the other figure have a
// band of one standard deviation.
func (c Config) differences(curves grid.Grid, chosen []variant) chart.Figure {
	var lines []chart.Series
	for _, s := range chosen {
		if s.Policy == engine.None || s.Gamma != c.Gamma[0] {
			continue
		}
		line := curves.Where(s.place()).Lines(grid.Lines{
			X: "step", Y: "less_none", Scale: 1, By: []string{"policy"}, Spread: table.MeanSD, Bare: true,
		})[0]
		line.Label, line.Colour = s.Policy+", "+s.RStep, chart.Palette(len(lines)%5)
		if s.Fisher != "" {
			line.Label += "/" + s.Fisher
		}
		if s.RStep != c.RStep[0] || s.Fisher != c.Fisher[0] && s.Fisher != "" {
			line.Band = nil
		}
		line.Dashed = s.Policy == engine.Class
		lines = append(lines, line)
	}
	return chart.Lines(fmt.Sprintf("figure%d_differences", c.Figure), chart.Axes{
		Title: "Difference from plain online EM on the same seed · " + c.subject(),
		X:     "step (band: one standard deviation over seeds)",
		Y:     "difference (nats per example)", Events: c.starts(),
	}, lines)
}
