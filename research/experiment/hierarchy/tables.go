package hierarchy

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// A view is a table of cells, with the names of what it varies.
type view struct {
	name, title string
	axes        []string
	cells       []cell
}

// views returns all tables but that by q.
func (c Config) views(base cell) []view {
	var byT []cell
	for _, v := range c.Variants {
		one := base
		one.variant = v
		byT = append(byT, with(one, c.T, func(c *cell, t int) { c.t = t })...)
	}
	return []view{
		{"by_t", "Flat, clustered Gaussians, clustered raw data, by visits T (Tables 5.1, 5.2, 5.4)",
			[]string{"method", "T"}, byT},
		{"by_s", "Number of super-classes, T = 1 (Table 5.3)", []string{"S"},
			with(base, c.S, func(c *cell, s int) { c.s, c.t = s, 1 })},
		{"by_levels", fmt.Sprintf("Number of levels, T = %d at each (beyond the paper)", base.t), []string{"levels"},
			with(base, c.Levels, func(c *cell, levels int) { c.levels = levels })},
		{"by_r", fmt.Sprintf("Components of super-classes, q = %d, T = %d (Tables 5.6, 5.7)", base.q, base.t),
			[]string{"r"}, with(base, c.R, func(c *cell, r int) { c.r = r })},
	}
}

// byQ returns the cells of a row of Table 5.5: r = q, at the first and the last T.
func (c Config) byQ(base cell, q int) []cell {
	base.q, base.r = q, q
	ends := slices.Compact([]int{c.T[0], c.T[len(c.T)-1]})
	return with(base, ends, func(c *cell, t int) { c.t = t })
}

// with returns the cell with each of some values.
func with(base cell, values []int, change func(*cell, int)) []cell {
	cells := slices.Repeat([]cell{base}, len(values))
	for i, v := range values {
		change(&cells[i], v)
	}
	return cells
}

// A report makes the tables and the figure.
type report struct {
	Config
	base  cell
	cells grid.Grid
}

func (r report) outcome(d data) experiment.Outcome {
	o := experiment.Outcome{
		Title:   "Hierarchical PPCA on " + d.name,
		Lead:    fmt.Sprintf("%d classes, %d training and %d test examples.", d.classes, len(d.train.Y), len(d.test.Y)),
		Results: experiment.Results{Kind: "hierarchy", Cells: r.cells}, Figures: []chart.Figure{r.figure(d)},
	}
	for _, v := range r.views(r.base) {
		if len(v.cells) > 0 {
			o.Tables = append(o.Tables, r.table(v))
		}
	}
	if len(r.Q) > 0 {
		o.Tables = append(o.Tables, r.tableByQ())
	}
	return o
}

// table returns a table whose first row is the flat head.
func (r report) table(v view) table.Table {
	flat := grid.Place{}
	for _, a := range v.axes {
		flat[a] = ""
	}
	flat[v.axes[0]] = "flat"
	own := grid.Grid{{At: flat, Values: r.values(flatAt(r.base.q))}}
	for _, c := range v.cells {
		own = append(own, grid.Cell{At: c.place(), Values: r.values(c.place())})
	}
	return own.Table(table.Table{
		Name: v.name, Title: v.title,
		Note: "Accuracies in percent. Density is the share of Gaussians scored, speed-up its inverse. The speed-up " +
			"by the clock, against the flat head on the same rows in the same run, and the seconds of building the " +
			"hierarchy depend on the machine.",
	}, v.axes,
		grid.Column{Title: "super-classes", Of: "super_classes", Show: func(values []float64) string {
			return strconv.FormatFloat(stat.Mean(values, nil), 'f', -1, 64)
		}},
		grid.Column{Title: "density", Of: "density", Show: grid.Mean("%.3f", 1)},
		grid.Column{Title: "speed-up", Of: "speed_up", Show: grid.Mean("%.1f", 1)},
		grid.Column{Title: "by the clock", Of: "clock_speed_up", Show: grid.Mean("%.1f", 1)},
		grid.Column{Title: "accuracy", Of: "accuracy", Show: grid.Percent},
		grid.Column{Title: "super-class accuracy", Of: "super_accuracy", Show: grid.Percent},
		grid.Column{Title: "seconds", Of: "fit_seconds", Show: grid.Mean("%.1f", 1)})
}

func (r report) values(at grid.Place) map[string][]float64 { return r.cells.Where(at)[0].Values }

// tableByQ returns Table 5.5.
func (r report) tableByQ() table.Table {
	var own grid.Grid
	for _, q := range r.Q {
		own = append(own, grid.Cell{At: grid.At("q", q, "head", "flat"), Values: r.values(flatAt(q))})
		for _, c := range r.byQ(r.base, q) {
			own = append(own,
				grid.Cell{At: grid.At("q", q, "head", fmt.Sprintf("T = %d", c.t)), Values: r.values(c.place())})
		}
	}
	return own.Table(table.Table{Name: "by_q", Title: "Components q = r (Table 5.5)", Note: "Accuracy in percent."},
		[]string{"q"}, own.Across("head", "%s", "accuracy", grid.Percent)...)
}

// figure draws Figure 5.1: accuracy by speed-up, one line per variant.
func (r report) figure(d data) chart.Figure {
	var own grid.Grid
	most := 1.0
	for _, c := range r.views(r.base)[0].cells {
		own = append(own, grid.Cell{At: c.place(), Values: r.values(c.place())})
		most = max(most, stat.Mean(r.values(c.place())["speed_up"], nil))
	}
	lines := own.Lines(grid.Lines{X: "speed_up", Y: "accuracy", Scale: 100, By: []string{"method"}})
	flat := 100 * r.values(flatAt(r.base.q))["accuracy"][0]
	lines = append(lines, chart.Series{Label: "flat", X: []float64{1, most}, Y: []float64{flat, flat},
		Colour: chart.Grey(), Dashed: true, Bare: true})
	return chart.Lines("accuracy_by_speed_up", chart.Axes{Title: "Hierarchical PPCA · T visits, " + d.name,
		X: "speed-up (Gaussians scored)", Y: "accuracy (%)"}, lines)
}
