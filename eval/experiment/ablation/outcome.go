package ablation

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

func (c Config) outcome(r Results) (experiment.Outcome, error) {
	o := experiment.Outcome{Title: "PPCA by components, noise variance and input", Results: r}
	o.Findings = []string{best(r.Results)}
	byQ, err := c.byQ(r.Results)
	if err != nil {
		return o, err
	}
	o.Tables = append(o.Tables, byQ)
	if len(c.Lambda) > 1 {
		o.Tables = append(o.Tables, c.byLambda(r.Results))
	}
	o.Figures, err = c.figures(r.Results)
	return o, err
}

// best names the cell of largest accuracy, the first of several.
func best(results []Result) string {
	b := slices.MaxFunc(results, func(a, b Result) int {
		switch {
		case a.Accuracy < b.Accuracy:
			return -1
		case a.Accuracy > b.Accuracy:
			return 1
		}
		return 0
	})
	return fmt.Sprintf("Best of %d settings: %s %% with q = %d, λ = %s on %s; chosen on test images, so that it flatters.", len(results), experiment.Percent(b.Accuracy), b.Q, lambdaText(b.Lambda), b.Input)
}

// byQ is the paper's form: a column for every q.
func (c Config) byQ(results []Result) (experiment.Table, error) {
	t := experiment.Table{
		Name: "by_q", Title: "Accuracy by number of components",
		Note:   "Percent, over all classes after the last session. Published rows are of other data or backbones.",
		Header: []string{"input", "λ", "source"},
	}
	for _, q := range c.Q {
		t.Header = append(t.Header, fmt.Sprintf("q = %d", q))
	}
	for i := 0; i < len(results); i += len(c.Q) {
		row := []string{results[i].Input, lambdaText(results[i].Lambda), source(results[i])}
		for _, r := range results[i : i+len(c.Q)] {
			row = append(row, experiment.Percent(r.Accuracy))
		}
		t.Rows = append(t.Rows, row)
	}
	if c.Published == "" {
		return t, nil
	}
	p, err := readPublished(c.Published)
	if err != nil {
		return t, err
	}
	for _, r := range p.Rows {
		row := []string{r.Name, "0.01", p.Title}
		for _, q := range c.Q {
			cell := experiment.None
			if k := slices.Index(p.Q, q); k >= 0 {
				cell = fmt.Sprintf("%.2f", r.Accuracy[k])
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// byLambda has a column for every λ.
func (c Config) byLambda(results []Result) experiment.Table {
	t := experiment.Table{
		Name: "by_lambda", Title: "Accuracy by noise variance",
		Note: "The same cells as above, turned.", Header: []string{"input", "q"},
	}
	for _, l := range c.Lambda {
		t.Header = append(t.Header, "λ = "+lambdaText(l))
	}
	each := len(c.Q) * len(c.Lambda)
	for i := 0; i < len(results); i += each {
		for k, q := range c.Q {
			row := []string{results[i].Input, strconv.Itoa(q)}
			for l := range c.Lambda {
				row = append(row, experiment.Percent(results[i+l*len(c.Q)+k].Accuracy))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func source(r Result) string {
	if r.Runs > 1 {
		return fmt.Sprintf("these %d runs", r.Runs)
	}
	return "this run"
}

func lambdaText(l float64) string {
	if l == 0 {
		return "auto"
	}
	return strconv.FormatFloat(l, 'g', -1, 64)
}

// figures show accuracy by q, and by λ and by input where there are several.
func (c Config) figures(results []Result) ([]chart.Figure, error) {
	f := folded{axes: [3][]string{names(results), texts(c.Lambda, lambdaText), texts(c.Q, strconv.Itoa)}, results: results}
	var figures []chart.Figure
	for _, v := range []struct {
		name, x string
		axis    int
	}{{"by_q", "components q", 2}, {"by_lambda", "noise variance λ", 1}, {"by_input", "input", 0}} {
		if v.axis != 2 && len(f.axes[v.axis]) < 2 {
			continue
		}
		axes := chart.Axes{Title: "Accuracy over all classes · PPCA", X: v.x, Y: "accuracy (%)", Ticks: f.axes[v.axis]}
		drawn, err := chart.Lines(v.name, axes, f.lines(v.axis))
		if err != nil {
			return nil, err
		}
		figures = append(figures, drawn)
	}
	return figures, nil
}

// folded are results as an array of inputs × λ × q.
type folded struct {
	axes    [3][]string
	results []Result
}

// lines are the accuracy along one axis, a line for every pair of the others.
func (f folded) lines(axis int) []chart.Series {
	a, b := (axis+1)%3, (axis+2)%3
	if a > b {
		a, b = b, a
	}
	var lines []chart.Series
	for i, first := range f.axes[a] {
		for j, second := range f.axes[b] {
			s := chart.Series{Label: f.label(a, first) + f.label(b, second), Colour: chart.Palette(len(lines))}
			for k := range f.axes[axis] {
				var at [3]int
				at[a], at[b], at[axis] = i, j, k
				s.Y = append(s.Y, math.Round(1e6*f.at(at))/1e4)
			}
			lines = append(lines, s)
		}
	}
	return lines
}

func (f folded) at(i [3]int) float64 {
	return f.results[(i[0]*len(f.axes[1])+i[1])*len(f.axes[2])+i[2]].Accuracy
}

// label names a value of an axis that has several.
func (f folded) label(axis int, value string) string {
	if len(f.axes[axis]) < 2 && axis != 0 {
		return ""
	}
	return [3]string{"", " λ=", " q="}[axis] + value
}

func names(results []Result) []string {
	var names []string
	for _, r := range results {
		if !slices.Contains(names, r.Input) {
			names = append(names, r.Input)
		}
	}
	return names
}

func texts[T any](values []T, text func(T) string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = text(v)
	}
	return out
}
