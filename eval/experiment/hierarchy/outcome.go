package hierarchy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// Results is results.json.
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
func Run(ctx context.Context, c Config, s experiment.Env) (experiment.Outcome, error) {
	d, err := c.data(s)
	if err != nil {
		return experiment.Outcome{}, err
	}
	l := newRunner(s, c, d)
	r := report{runner: l, ctx: ctx, results: Results{Kind: "hierarchy", Data: d.name, Classes: d.classes, Train: len(d.train.Y), Test: len(d.test.Y), Runs: c.Runs}}
	r.flat(l.base().Q)
	r.main()
	r.byS()
	r.byLevels()
	r.byR()
	r.byQ() // last: every q needs class models of its own
	if r.err != nil {
		return experiment.Outcome{}, r.err
	}
	o := experiment.Outcome{Title: "Hierarchical PPCA on " + d.name, Results: r.results, Tables: r.tables, Findings: r.findings()}
	figure, err := r.figure()
	o.Figures = []chart.Figure{figure}
	return o, err
}

// report collects tables; the first error ends all measuring.
type report struct {
	runner  *runner
	ctx     context.Context
	results Results
	tables  []experiment.Table
	err     error
}

// flat measures the flat head once for each q.
func (r *report) flat(q int) Flat {
	for _, f := range r.results.Flat {
		if f.Q == q {
			return f
		}
	}
	if r.err != nil {
		return Flat{}
	}
	var f Flat
	if f, r.err = r.runner.measureFlat(r.ctx, q); r.err == nil {
		r.results.Flat = append(r.results.Flat, f)
	}
	return f
}

// cell measures a cell once.
func (r *report) cell(c Cell) Measure {
	for _, m := range r.results.Cells {
		if m.Cell == c {
			return m
		}
	}
	if r.err != nil {
		return Measure{}
	}
	var m Measure
	if m, r.err = r.runner.measure(r.ctx, c); r.err == nil {
		r.results.Cells = append(r.results.Cells, m)
	}
	return m
}

const clockNote = "Accuracies in percent. Density is the share of Gaussians scored, speed-up its inverse; beside it the speed-up by the clock against the flat head on the same rows in the same run, and the seconds of making the hierarchy, which depend on the machine."

func columns() []string {
	return []string{"super-classes", "density", "speed-up", "by the clock", "accuracy", "super-class accuracy", "seconds"}
}

func cells(m Measure) []string {
	return []string{
		strconv.FormatFloat(m.Supers, 'f', -1, 64), fmt.Sprintf("%.3f", m.Density), fmt.Sprintf("%.1f", m.SpeedUp), fmt.Sprintf("%.1f", m.ClockSpeedUp),
		experiment.Percent(m.Accuracy), experiment.Percent(m.SuperAccuracy), fmt.Sprintf("%.1f", m.FitSeconds),
	}
}

func (r *report) flatRow(first ...string) []string {
	f := r.flat(r.runner.base().Q)
	return append(first, experiment.None, "1.000", "1.0", "1.0", experiment.Percent(f.Accuracy), experiment.None, experiment.None)
}

// main is Tables 5.1, 5.2 and 5.4 in one: every variant at every T.
func (r *report) main() {
	t := experiment.Table{Name: "by_t", Title: "Flat, clustered Gaussians, clustered raw data, by visits T (Tables 5.1, 5.2, 5.4)", Note: clockNote}
	t.Header = append([]string{"method", "T"}, columns()...)
	t.Rows = append(t.Rows, r.flatRow("flat", experiment.None))
	for _, v := range r.runner.cfg.Variants {
		for _, visits := range r.runner.cfg.T {
			c := r.runner.base()
			c.Variant, c.T = v, visits
			t.Rows = append(t.Rows, append([]string{v, strconv.Itoa(visits)}, cells(r.cell(c))...))
		}
	}
	r.tables = append(r.tables, t)
}

// byS is Table 5.3.
func (r *report) byS() {
	r.vary("by_s", "Number of super-classes, T = 1 (Table 5.3)", "S", r.runner.cfg.S, func(c *Cell, v int) { c.S, c.T = v, 1 })
}

// byLevels is beyond the paper.
func (r *report) byLevels() {
	title := fmt.Sprintf("Number of levels, T = %d at each (beyond the paper)", r.runner.base().T)
	r.vary("by_levels", title, "levels", r.runner.cfg.Levels, func(c *Cell, v int) { c.Levels = v })
}

// byR is Tables 5.6 and 5.7.
func (r *report) byR() {
	title := fmt.Sprintf("Components of super-classes, q = %d, T = %d (Tables 5.6, 5.7)", r.runner.base().Q, r.runner.base().T)
	r.vary("by_r", title, "r", r.runner.cfg.R, func(c *Cell, v int) { c.R = v })
}

func (r *report) vary(name, title, column string, values []int, change func(*Cell, int)) {
	if len(values) == 0 {
		return
	}
	t := experiment.Table{Name: name, Title: title, Note: clockNote, Header: append([]string{column}, columns()...)}
	t.Rows = append(t.Rows, r.flatRow("flat"))
	for _, v := range values {
		c := r.runner.base()
		change(&c, v)
		t.Rows = append(t.Rows, append([]string{strconv.Itoa(v)}, cells(r.cell(c))...))
	}
	r.tables = append(r.tables, t)
}

// byQ is Table 5.5: r = q, flat, and the first and the last T.
func (r *report) byQ() {
	cfg := r.runner.cfg
	if len(cfg.Q) == 0 {
		return
	}
	visits := slices.Compact([]int{cfg.T[0], cfg.T[len(cfg.T)-1]})
	t := experiment.Table{Name: "by_q", Title: "Components q = r (Table 5.5)", Note: "Accuracy in percent.", Header: []string{"q", "flat"}}
	for _, v := range visits {
		t.Header = append(t.Header, fmt.Sprintf("T = %d", v))
	}
	for _, q := range cfg.Q {
		row := []string{strconv.Itoa(q), experiment.Percent(r.flat(q).Accuracy)}
		for _, v := range visits {
			c := r.runner.base()
			c.Q, c.R, c.T = q, q, v
			row = append(row, experiment.Percent(r.cell(c).Accuracy))
		}
		t.Rows = append(t.Rows, row)
	}
	r.tables = append(r.tables, t)
}

// findings say what the paper claims and whether it holds here.
func (r *report) findings() []string {
	flat := r.flat(r.runner.base().Q)
	out := []string{}
	for _, v := range r.runner.cfg.Variants {
		c := r.runner.base()
		c.Variant, c.T = v, r.runner.cfg.T[len(r.runner.cfg.T)-1]
		m := r.cell(c)
		out = append(out, fmt.Sprintf("%s, T = %d: %s %% (flat %s %%) with %.1f times fewer Gaussians, %.1f times by the clock (%.2f of it).",
			v, c.T, experiment.Percent(m.Accuracy), experiment.Percent(flat.Accuracy), m.SpeedUp, m.ClockSpeedUp, m.ClockSpeedUp/m.SpeedUp))
	}
	return out
}

// figure is Figure 5.1: accuracy by speed-up, a line for every variant.
func (r *report) figure() (chart.Figure, error) {
	var lines []chart.Series
	for i, v := range r.runner.cfg.Variants {
		own := []Measure{}
		for _, t := range r.runner.cfg.T {
			c := r.runner.base()
			c.Variant, c.T = v, t
			own = append(own, r.cell(c))
		}
		slices.SortFunc(own, func(a, b Measure) int { return cmp.Compare(a.SpeedUp, b.SpeedUp) })
		s := chart.Series{Label: v, Colour: chart.Palette(i)}
		for _, m := range own {
			s.X, s.Y = append(s.X, m.SpeedUp), append(s.Y, 100*m.Accuracy)
		}
		lines = append(lines, s)
	}
	flat := 100 * r.flat(r.runner.base().Q).Accuracy
	most := 1.0
	for _, s := range lines {
		most = max(most, s.X[len(s.X)-1])
	}
	lines = append(lines, chart.Series{Label: "flat", X: []float64{1, most}, Y: []float64{flat, flat}, Colour: chart.Grey(), Dashed: true, Bare: true})
	return chart.Lines("accuracy_by_speed_up", chart.Axes{Title: "Hierarchical PPCA, T visits", X: "speed-up (Gaussians scored)", Y: "accuracy (%)"}, lines)
}
