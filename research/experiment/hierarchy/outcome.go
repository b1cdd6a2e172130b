package hierarchy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Results is the content of results.json.
type Results struct {
	Kind    string    `json:"kind"`
	Data    string    `json:"data"`
	Classes int       `json:"classes"`
	Train   int       `json:"train"`
	Test    int       `json:"test"`
	Runs    int       `json:"runs"`
	Flat    []Flat    `json:"flat"`
	Cells   []Measure `json:"cells"`
}

// Run measures all tables.
func Run(ctx context.Context, c Config, env experiment.Env) (experiment.Outcome, error) {
	d, err := c.data(env)
	if err != nil {
		return experiment.Outcome{}, err
	}
	r := report{
		runner: &runner{env: env, cfg: c, data: d, q: -1, clockTest: evenly(d.test, clockRows).X},
		results: Results{Kind: "hierarchy", Data: d.name, Classes: d.classes, Train: len(d.train.Y),
			Test: len(d.test.Y), Runs: c.Runs}, ctx: ctx,
	}
	base := r.runner.base()
	r.flat(base.Q)
	r.byT()
	r.vary("by_s", "Number of super-classes, T = 1 (Table 5.3)", "S", c.S, func(c *Cell, v int) { c.S, c.T = v, 1 })
	r.vary("by_levels", fmt.Sprintf("Number of levels, T = %d at each (beyond the paper)", base.T), "levels", c.Levels,
		func(c *Cell, v int) { c.Levels = v })
	r.vary("by_r", fmt.Sprintf("Components of super-classes, q = %d, T = %d (Tables 5.6, 5.7)", base.Q, base.T), "r",
		c.R, func(c *Cell, v int) { c.R = v })
	r.byQ() // last: every q needs its own class models
	if r.err != nil {
		return experiment.Outcome{}, r.err
	}
	return experiment.Outcome{
		Title: "Hierarchical PPCA on " + d.name, Results: r.results, Tables: r.tables, Findings: r.findings(),
		Figures: []chart.Figure{r.figure()},
	}, nil
}

// report collects tables; after the first error it measures nothing more.
type report struct {
	runner  *runner
	ctx     context.Context
	results Results
	tables  []table.Table
	err     error
}

// flat measures the flat head once for each q.
func (r *report) flat(q int) (f Flat) {
	if i := slices.IndexFunc(r.results.Flat, func(f Flat) bool { return f.Q == q }); i >= 0 {
		return r.results.Flat[i]
	}
	if r.err == nil {
		if f, r.err = r.runner.measureFlat(r.ctx, q); r.err == nil {
			r.results.Flat = append(r.results.Flat, f)
		}
	}
	return f
}

// cell measures a cell once.
func (r *report) cell(c Cell) (m Measure) {
	if i := slices.IndexFunc(r.results.Cells, func(m Measure) bool { return m.Cell == c }); i >= 0 {
		return r.results.Cells[i]
	}
	if r.err == nil {
		if m, r.err = r.runner.measure(r.ctx, c); r.err == nil {
			r.results.Cells = append(r.results.Cells, m)
		}
	}
	return m
}

// variant measures a variant with the given number of visits.
func (r *report) variant(name string, visits int) Measure {
	c := r.runner.base()
	c.Variant, c.T = name, visits
	return r.cell(c)
}

// newTable returns a table whose first row is the flat head; first names the
// columns before the measures.
func (r *report) newTable(name, title string, first ...string) table.Table {
	t := table.Table{
		Name: name, Title: title, Header: append(first, "super-classes", "density", "speed-up", "by the clock",
			"accuracy", "super-class accuracy", "seconds"),
		Note: "Accuracies in percent. Density is the share of Gaussians scored, speed-up its inverse. The speed-up " +
			"by the clock, against the flat head on the same rows in the same run, and the seconds of building the " +
			"hierarchy depend on the machine.",
	}
	row := []string{"flat"}
	for range first[1:] {
		row = append(row, table.None)
	}
	t.Add(append(row, table.None, "1.000", "1.0", "1.0", table.Percent(r.flat(r.runner.base().Q).Accuracy), table.None,
		table.None)...)
	return t
}

func cells(m Measure, first ...string) []string {
	return append(first,
		strconv.FormatFloat(m.Supers, 'f', -1, 64), fmt.Sprintf("%.3f", m.Density), fmt.Sprintf("%.1f", m.SpeedUp),
		fmt.Sprintf("%.1f", m.ClockSpeedUp),
		table.Percent(m.Accuracy), table.Percent(m.SuperAccuracy), fmt.Sprintf("%.1f", m.FitSeconds))
}

// byT combines Tables 5.1, 5.2 and 5.4: every variant at every T.
func (r *report) byT() {
	t := r.newTable("by_t", "Flat, clustered Gaussians, clustered raw data, by visits T (Tables 5.1, 5.2, 5.4)",
		"method", "T")
	for _, v := range r.runner.cfg.Variants {
		for _, visits := range r.runner.cfg.T {
			t.Add(cells(r.variant(v, visits), v, strconv.Itoa(visits))...)
		}
	}
	r.tables = append(r.tables, t)
}

// vary measures the base cell with one setting changed.
func (r *report) vary(name, title, column string, values []int, change func(*Cell, int)) {
	if len(values) == 0 {
		return
	}
	t := r.newTable(name, title, column)
	for _, v := range values {
		c := r.runner.base()
		change(&c, v)
		t.Add(cells(r.cell(c), strconv.Itoa(v))...)
	}
	r.tables = append(r.tables, t)
}

// byQ measures Table 5.5: r = q, flat, and the first and the last T.
func (r *report) byQ() {
	cfg := r.runner.cfg
	if len(cfg.Q) == 0 {
		return
	}
	visits := slices.Compact([]int{cfg.T[0], cfg.T[len(cfg.T)-1]})
	t := table.Table{Name: "by_q", Title: "Components q = r (Table 5.5)", Note: "Accuracy in percent.",
		Header: []string{"q", "flat"}}
	for _, v := range visits {
		t.Header = append(t.Header, fmt.Sprintf("T = %d", v))
	}
	for _, q := range cfg.Q {
		row := []string{strconv.Itoa(q), table.Percent(r.flat(q).Accuracy)}
		for _, v := range visits {
			c := r.runner.base()
			c.Q, c.R, c.T = q, q, v
			row = append(row, table.Percent(r.cell(c).Accuracy))
		}
		t.Add(row...)
	}
	r.tables = append(r.tables, t)
}

// findings states the paper's claims and whether they hold here.
func (r *report) findings() []string {
	flat := r.flat(r.runner.base().Q)
	visits := r.runner.cfg.T[len(r.runner.cfg.T)-1]
	out := []string{}
	for _, v := range r.runner.cfg.Variants {
		m := r.variant(v, visits)
		out = append(out,
			fmt.Sprintf("%s, T = %d: %s %% (flat %s %%) with %.1f times fewer Gaussians, %.1f times by the clock "+
				"(%.2f of it).",
				v, visits, table.Percent(m.Accuracy), table.Percent(flat.Accuracy), m.SpeedUp, m.ClockSpeedUp,
				m.ClockSpeedUp/m.SpeedUp))
	}
	return out
}

// subject names the data in a title.
func (c Config) subject() string {
	if c.Synthetic.K == 0 {
		return "features"
	}
	return fmt.Sprintf("%d synthetic classes", c.Synthetic.K)
}

// figure draws Figure 5.1: accuracy by speed-up, one line per variant.
func (r *report) figure() chart.Figure {
	var lines []chart.Series
	most := 1.0
	for i, v := range r.runner.cfg.Variants {
		own := []Measure{}
		for _, t := range r.runner.cfg.T {
			own = append(own, r.variant(v, t))
		}
		slices.SortFunc(own, func(a, b Measure) int { return cmp.Compare(a.SpeedUp, b.SpeedUp) })
		s := chart.Series{Label: v, Colour: chart.Palette(i)}
		for _, m := range own {
			s.X, s.Y = append(s.X, m.SpeedUp), append(s.Y, 100*m.Accuracy)
			most = max(most, m.SpeedUp)
		}
		lines = append(lines, s)
	}
	flat := 100 * r.flat(r.runner.base().Q).Accuracy
	lines = append(lines, chart.Series{Label: "flat", X: []float64{1, most}, Y: []float64{flat, flat},
		Colour: chart.Grey(), Dashed: true, Bare: true})
	return chart.Lines("accuracy_by_speed_up",
		chart.Axes{Title: "Hierarchical PPCA · T visits, " + r.runner.cfg.subject(), X: "speed-up (Gaussians scored)",
			Y: "accuracy (%)"}, lines)
}
