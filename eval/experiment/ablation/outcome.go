package ablation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/table"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// outcome turns the cells, ordered by input, λ and q, into tables and figures.
func (c Config) outcome(r Results) (experiment.Outcome, error) {
	best := slices.MaxFunc(r.Results, func(a, b Result) int { return cmp.Compare(a.Accuracy, b.Accuracy) })
	byQ, err := c.byQ(r.Results)
	o := experiment.Outcome{
		Title: "PPCA by components, noise variance and input", Results: r, Tables: []table.Table{byQ}, Figures: c.figures(r.Results),
		Findings: []string{fmt.Sprintf("Best of %d settings: %s %% with q = %d, λ = %s on %s; chosen on test images and therefore optimistic.",
			len(r.Results), table.Percent(best.Accuracy), best.Q, lambdaText(best.Lambda), best.Input)},
	}
	if len(c.Lambda) > 1 {
		o.Tables = append(o.Tables, c.byLambda(r.Results))
	}
	return o, err
}

// byQ returns the table in the paper's form, with one column per q.
func (c Config) byQ(cells []Result) (table.Table, error) {
	t := table.Table{
		Name: "by_q", Title: "Accuracy by number of components",
		Note:   "Percent, over all classes after the last session. Published rows use other data or backbones.",
		Header: []string{"input", "λ", "source"},
	}
	for _, q := range c.Q {
		t.Header = append(t.Header, fmt.Sprintf("q = %d", q))
	}
	for own := range slices.Chunk(cells, len(c.Q)) {
		source := "this run"
		if own[0].Runs > 1 {
			source = fmt.Sprintf("these %d runs", own[0].Runs)
		}
		row := []string{own[0].Input, lambdaText(own[0].Lambda), source}
		for _, r := range own {
			row = append(row, table.Percent(r.Accuracy))
		}
		t.Add(row...)
	}
	p, err := c.published()
	for i, r := range p.Rows {
		t.Add(append([]string{r.Name, "0.01", p.Title}, p.Cells(i, c.Q)...)...)
	}
	return t, err
}

// byLambda returns a table with one column per λ.
func (c Config) byLambda(cells []Result) table.Table {
	t := table.Table{
		Name: "by_lambda", Title: "Accuracy by noise variance",
		Note: "The same cells as above, by λ.", Header: []string{"input", "q"},
	}
	for _, l := range c.Lambda {
		t.Header = append(t.Header, "λ = "+lambdaText(l))
	}
	for own := range slices.Chunk(cells, len(c.Q)*len(c.Lambda)) {
		for k, q := range c.Q {
			row := []string{own[0].Input, strconv.Itoa(q)}
			for l := range c.Lambda {
				row = append(row, table.Percent(own[l*len(c.Q)+k].Accuracy))
			}
			t.Add(row...)
		}
	}
	return t
}

func lambdaText(l float64) string {
	if l == 0 {
		return "auto"
	}
	return strconv.FormatFloat(l, 'g', -1, 64)
}

// figures draws accuracy by q, and by λ and by input if there are several, with
// one line per combination of the other two.
func (c Config) figures(cells []Result) []chart.Figure {
	var axes [3][]string
	for own := range slices.Chunk(cells, len(c.Q)*len(c.Lambda)) {
		axes[0] = append(axes[0], own[0].Input)
	}
	for _, l := range c.Lambda {
		axes[1] = append(axes[1], lambdaText(l))
	}
	axes[2] = table.Numbers(c.Q)
	label := func(axis, i int) string {
		if len(axes[axis]) < 2 && axis != 0 {
			return ""
		}
		return [3]string{"", " λ=", " q="}[axis] + axes[axis][i]
	}
	var figures []chart.Figure
	for _, f := range []struct {
		name, x string
		axis    int
	}{{"by_q", "components q", 2}, {"by_lambda", "noise variance λ", 1}, {"by_input", "input", 0}} {
		if f.axis != 2 && len(axes[f.axis]) < 2 {
			continue
		}
		a, b := min((f.axis+1)%3, (f.axis+2)%3), max((f.axis+1)%3, (f.axis+2)%3)
		var lines []chart.Series
		for i := range axes[a] {
			for j := range axes[b] {
				s := chart.Series{Label: label(a, i) + label(b, j), Colour: chart.Palette(len(lines))}
				for k := range axes[f.axis] {
					var at [3]int
					at[a], at[b], at[f.axis] = i, j, k
					cell := cells[(at[0]*len(axes[1])+at[1])*len(axes[2])+at[2]]
					s.Y = append(s.Y, math.Round(1e6*cell.Accuracy)/1e4)
				}
				lines = append(lines, s)
			}
		}
		figures = append(figures, chart.Lines(f.name, chart.Axes{Title: "Accuracy over all classes · PPCA", X: f.x, Y: "accuracy (%)", Ticks: axes[f.axis]}, lines))
	}
	return figures
}
