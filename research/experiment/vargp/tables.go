package vargp

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func (c Config) outcome(cells, trials grid.Grid) experiment.Outcome {
	same, first := cells.Where(grid.At("M", c.Inducing)), cells.Where(grid.At("variant", c.Variants[0]))
	o := experiment.Outcome{Title: "VAR-GP: " + c.title(), Tables: []table.Table{c.variantTable(same)}}
	if len(trials) > 0 {
		o.Tables = append(o.Tables, c.searchTable(trials))
	}
	o.Results = experiment.Results{Kind: "vargp", Cells: append(cells, trials...)}
	c.addCurves(&o, same)
	if c.Tasks > 1 {
		c.addEntropy(&o, first.Where(grid.At("M", c.Inducing)))
	}
	if len(c.Sweep) > 0 {
		c.addSweep(&o, first)
	}
	return o
}

func (c Config) title() string {
	return fmt.Sprintf("%s, %d tasks of %d classes", c.Data, c.Tasks, c.Classes)
}

// variantTable returns Table 1.
func (c Config) variantTable(cells grid.Grid) table.Table {
	t := cells.Table(table.Table{
		Name: "variants", Title: "Accuracy after the last task",
		Note: fmt.Sprintf("Percent; mean ± standard deviation of %d runs, M = %d, protocol %s. First task: on "+
			"its test examples, right after it and after the last task. Entropy: of test examples, 100 for equal "+
			"probabilities.", c.Seeds, c.Inducing, c.Protocol),
	}, []string{"variant"},
		grid.Column{Title: "all tasks", At: grid.At("task", c.Tasks), Of: "accuracy_so_far", Show: grid.PercentSD},
		grid.Column{Title: "first task then", At: grid.At("task", 1, "tested", 1), Of: "accuracy",
			Show: grid.PercentSD},
		grid.Column{Title: "first task at last", At: grid.At("task", c.Tasks, "tested", 1), Of: "accuracy",
			Show: grid.PercentSD},
		grid.Column{Title: "entropy", At: grid.At("task", c.Tasks), Of: "entropy_of_all", Show: grid.PercentSD})
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

// addCurves draws the accuracy after each task (Figs. 5 and 6).
func (c Config) addCurves(o *experiment.Outcome, cells grid.Grid) {
	o.Tables = append(o.Tables, cells.Table(table.Table{
		Name: "tasks", Title: "Accuracy on the tasks so far", Note: "Percent; mean ± standard deviation over runs.",
	}, []string{"variant"}, cells.Across("task", "after task %s", "accuracy_so_far", grid.PercentSD)...))
	o.Figures = append(o.Figures, cells.Figure("tasks", chart.Axes{Title: "VAR-GP and variants · " + c.title(),
		X: "tasks learned", Y: "accuracy on the tasks so far (%)"}, grid.Lines{
		X: "task", Y: "accuracy_so_far", Scale: 100, By: []string{"variant"}, Spread: table.MeanSD,
	}))
}

// addEntropy draws the entropy of the first variant (Fig. 3).
func (c Config) addEntropy(o *experiment.Outcome, cells grid.Grid) {
	o.Tables = append(o.Tables, cells.Table(table.Table{
		Name: "entropy", Title: fmt.Sprintf("Entropy of %s (Fig. 3)", c.Variants[0]), Header: []string{"after"},
		Note: "Of the test examples of each task (columns) after each task learned (rows), as a share of the " +
			"logarithm of the number of heads; tasks above the diagonal are not learned yet.",
	}, []string{"task"}, cells.Across("tested", "%s", "entropy", grid.Mean("%.3f", 1))...))
	entropy := make([][]float64, c.Tasks)
	for i := range entropy {
		for j := range c.Tasks {
			entropy[i] = append(entropy[i],
				stat.Mean(cells.Values(grid.At("task", i+1, "tested", j+1), "entropy"), nil))
		}
	}
	o.Figures = append(o.Figures, chart.Matrix("entropy", chart.Axes{Title: fmt.Sprintf("Predictive entropy, %s · %s",
		c.Variants[0], c.title()), X: "task tested", Y: "tasks learned"}, cells.Axis("task"), entropy))
}

// addSweep draws the accuracy by the number of inducing inputs (Fig. 9).
func (c Config) addSweep(o *experiment.Outcome, cells grid.Grid) {
	var own grid.Grid
	for _, m := range c.Sweep {
		own = append(own, cells.Where(grid.At("M", m))...)
	}
	o.Tables = append(o.Tables, own.Table(table.Table{
		Name: "sweep", Title: fmt.Sprintf("Accuracy of %s by the number of inducing inputs (Fig. 9)", c.Variants[0]),
		Note: "Percent on the tasks so far; mean ± standard deviation over runs.",
	}, []string{"M"}, own.Across("task", "after task %s", "accuracy_so_far", grid.PercentSD)...))
	o.Figures = append(o.Figures, own.Figure("sweep",
		chart.Axes{Title: fmt.Sprintf("%s by M · %s", c.Variants[0], c.title()), X: "inducing inputs M of a task",
			Y: "accuracy on the tasks so far (%)"},
		grid.Lines{X: "M", Y: "accuracy_so_far", Scale: 100, By: []string{"task"}}))
}
