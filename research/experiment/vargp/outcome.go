package vargp

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// Results is the content of results.json.
type Results struct {
	Kind string   `json:"kind"`
	Runs []Result `json:"runs"`
	// Search lists what the search tried, if there was one.
	Search []Trial `json:"search,omitempty"`
}

func (r runner) outcome(results []Result, trials []Trial) (experiment.Outcome, error) {
	o := experiment.Outcome{
		Title: "VAR-GP: " + r.title(), Results: Results{Kind: "vargp", Runs: results, Search: trials},
		Tables: []table.Table{r.variantTable(results)}, Findings: r.findings(results),
	}
	if len(trials) > 0 {
		o.Tables = append(o.Tables, r.searchTable(trials))
	}
	r.addCurves(&o, results)
	r.addEntropy(&o, results)
	r.addSweep(&o, results)
	return o, r.addPictures(&o, results)
}

func (c Config) title() string {
	return fmt.Sprintf("%s, %d tasks of %d classes", c.Data, c.Tasks, c.Classes)
}

// of returns the runs of a plan.
func of(results []Result, p plan) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return plan{r.Variant, r.Inducing} != p })
}

// meanSD returns the mean and standard deviation of a value over runs.
func meanSD(runs []Result, value func(Result) float64) (mean, sd float64) {
	return table.MeanSD(table.Collect(runs, value))
}

// variantTable returns Table 1.
func (c Config) variantTable(results []Result) table.Table {
	last := c.Tasks - 1
	t := table.Table{
		Name: "variants", Title: "Accuracy after the last task",
		Note: fmt.Sprintf("Percent; mean ± standard deviation of %d runs, M = %d, protocol %s. First task: on "+
			"its test examples, right after it and after the last task. Entropy: of test examples, 100 for equal "+
			"probabilities.", c.Seeds, c.Inducing, c.Protocol),
		Header: []string{"variant", "all tasks", "first task then", "first task at last", "entropy"},
	}
	for _, v := range c.Variants {
		runs := of(results, plan{v, c.Inducing})
		row := []string{string(v)}
		for _, value := range []func(Result) float64{
			Result.final,
			func(r Result) float64 { return r.Accuracy[0][0] },
			func(r Result) float64 { return r.Accuracy[last][0] },
			func(r Result) float64 { return stat.Mean(r.Entropy[last], nil) },
		} {
			row = append(row, table.PlusMinus(meanSD(runs, value)))
		}
		t.Add(row...)
	}
	c.addPublished(&t)
	return t
}

// addPublished adds the paper's accuracies, where it has the data: a column for the
// variants that ran, and rows for everything else in its Table 1.
func (c Config) addPublished(t *table.Table) {
	if table1[0].on(c.Data) == "" {
		return
	}
	t.Header = append(t.Header, "published")
	t.Note += " Published: Table 1 of the paper, on MNIST; CS(n): with a coreset of n images; [100, 100]: hidden " +
		"layers. *: a head for each task, which is easier; not comparable."
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], table.None)
	}
	for _, p := range table1 {
		if i := slices.Index(c.Variants, p.variant); i >= 0 {
			t.Rows[i][len(t.Header)-1] = p.on(c.Data)
			continue
		}
		row := slices.Repeat([]string{table.None}, len(t.Header))
		row[0], row[len(row)-1] = p.method+" (paper)", p.on(c.Data)
		t.Add(row...)
	}
}

func (c Config) findings(results []Result) []string {
	var out []string
	last := c.Tasks - 1
	for _, v := range c.Variants {
		runs := of(results, plan{v, c.Inducing})
		final, sd := meanSD(runs, Result.final)
		lost, _ := meanSD(runs, func(r Result) float64 { return r.Accuracy[0][0] - r.Accuracy[last][0] })
		out = append(out, fmt.Sprintf("%s: %s %% on all tasks at the end; the first task lost %s points.", v,
			table.PlusMinus(final, sd), table.Percent(lost)))
	}
	return out
}

// afterTasks returns a table with one column per task learned.
func (c Config) afterTasks(name, title, note, first string) table.Table {
	t := table.Table{Name: name, Title: title, Note: note, Header: []string{first}}
	for task := range c.Tasks {
		t.Header = append(t.Header, fmt.Sprintf("after task %d", task+1))
	}
	return t
}

// addCurves draws the accuracy after each task (Figs. 5 and 6).
func (c Config) addCurves(o *experiment.Outcome, results []Result) {
	var lines []chart.Series
	t := c.afterTasks("tasks", "Accuracy on the tasks so far", "Percent; mean ± standard deviation over runs.",
		"variant")
	for i, v := range c.Variants {
		runs := of(results, plan{v, c.Inducing})
		line, row := chart.Series{Label: string(v), Colour: chart.Palette(i)}, []string{string(v)}
		for task := range c.Tasks {
			mean, sd := meanSD(runs, func(r Result) float64 { return r.after(task) })
			row = append(row, table.PlusMinus(mean, sd))
			line.Y, line.Band = append(line.Y, 100*mean), append(line.Band, 100*sd)
		}
		lines = append(lines, line)
		t.Add(row...)
	}
	o.Tables = append(o.Tables, t)
	o.Figures = append(o.Figures, chart.Lines("tasks", chart.Axes{Title: "VAR-GP and variants · " + c.title(),
		X: "tasks learned", Y: "accuracy on the tasks so far (%)"}, lines))
}

// addEntropy draws the entropy of the first variant (Fig. 3).
func (c Config) addEntropy(o *experiment.Outcome, results []Result) {
	if c.Tasks < 2 {
		return
	}
	runs := of(results, plan{c.Variants[0], c.Inducing})
	cells := make([][]float64, c.Tasks)
	for i := range cells {
		for j := range c.Tasks {
			mean, _ := meanSD(runs, func(r Result) float64 { return r.Entropy[i][j] })
			cells[i] = append(cells[i], mean)
		}
	}
	t := table.Table{
		Name: "entropy", Title: fmt.Sprintf("Entropy of %s (Fig. 3)", c.Variants[0]),
		Note: "Of the test examples of each task (columns) after each task learned (rows), as a share of the " +
			"logarithm of the number of heads; tasks above the diagonal are not learned yet.",
		Header: append([]string{"after"}, chart.WholeNumbers(c.Tasks)...),
	}
	for i, r := range cells {
		row := []string{strconv.Itoa(i + 1)}
		for _, v := range r {
			row = append(row, fmt.Sprintf("%.3f", v))
		}
		t.Add(row...)
	}
	o.Tables = append(o.Tables, t)
	o.Figures = append(o.Figures, chart.Matrix("entropy", chart.Axes{Title: fmt.Sprintf("Predictive entropy, %s · %s",
		c.Variants[0], c.title()), X: "task tested", Y: "tasks learned"}, chart.WholeNumbers(c.Tasks), cells))
}

// addSweep draws the accuracy by the number of inducing inputs (Fig. 9).
func (c Config) addSweep(o *experiment.Outcome, results []Result) {
	if len(c.Sweep) == 0 {
		return
	}
	t := c.afterTasks("sweep", fmt.Sprintf("Accuracy of %s by the number of inducing inputs (Fig. 9)", c.Variants[0]),
		"Percent on the tasks so far; mean ± standard deviation over runs.", "M")
	lines := make([]chart.Series, c.Tasks)
	for task := range lines {
		lines[task] = chart.Series{Label: fmt.Sprintf("task %d", task+1), Colour: chart.Palette(task)}
	}
	for _, m := range c.Sweep {
		runs := of(results, plan{c.Variants[0], m})
		row := []string{strconv.Itoa(m)}
		for task := range lines {
			mean, sd := meanSD(runs, func(r Result) float64 { return r.after(task) })
			row = append(row, table.PlusMinus(mean, sd))
			lines[task].X, lines[task].Y = append(lines[task].X, float64(m)), append(lines[task].Y, 100*mean)
		}
		t.Add(row...)
	}
	o.Tables = append(o.Tables, t)
	o.Figures = append(o.Figures, chart.Lines("sweep",
		chart.Axes{Title: fmt.Sprintf("%s by M · %s", c.Variants[0], c.title()), X: "inducing inputs M of a task",
			Y: "accuracy on the tasks so far (%)"}, lines))
}
