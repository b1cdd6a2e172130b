package vargp

import (
	"fmt"
	"math"
	"strconv"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

// Results is results.json.
type Results struct {
	Kind string   `json:"kind"`
	Runs []Result `json:"runs"`
}

func (c Config) outcome(s experiment.Env, src source, results []Result) (experiment.Outcome, error) {
	o := experiment.Outcome{Title: "VAR-GP: " + c.title(), Results: Results{Kind: "vargp", Runs: results}}
	o.Tables = append(o.Tables, c.variantTable(results))
	o.Findings = c.findings(results)
	for _, add := range []func(*experiment.Outcome, experiment.Env, source, []Result) error{c.addCurves, c.addEntropy, c.addSweep, c.addPictures} {
		if err := add(&o, s, src, results); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (c Config) title() string {
	return fmt.Sprintf("%s, %d tasks of %d classes", c.Data, c.Tasks, c.Classes)
}

// of returns the runs of a plan.
func of(results []Result, p plan) []Result {
	var out []Result
	for _, r := range results {
		if r.Variant == p.variant && r.Inducing == p.inducing {
			out = append(out, r)
		}
	}
	return out
}

// mean and sd return those of a number over runs; no sd with one run.
func meanSD(runs []Result, value func(Result) float64) (mean, sd float64) {
	n := float64(len(runs))
	for _, r := range runs {
		mean += value(r) / n
	}
	if len(runs) < 2 {
		return mean, math.NaN()
	}
	for _, r := range runs {
		sd += (value(r) - mean) * (value(r) - mean) / (n - 1)
	}
	return mean, math.Sqrt(sd)
}

func cell(mean, sd float64) string {
	if math.IsNaN(sd) {
		return experiment.Percent(mean)
	}
	return fmt.Sprintf("%s ± %s", experiment.Percent(mean), experiment.Percent(sd))
}

// published are the paper's accuracies of Table 1, on images of MNIST.
func published(data string, v vargp.Variant) string {
	switch data {
	case Split:
		return map[vargp.Variant]string{vargp.Full: "90.57 ± 1.06", vargp.BlockDiagonal: "78.64 ± 1.41", vargp.PointHypers: "10.09 ± 0.40", vargp.Global: "39.31 ± 0.28"}[v]
	case Permuted:
		return map[vargp.Variant]string{vargp.Full: "97.20 ± 0.08", vargp.BlockDiagonal: "96.31 ± 0.42", vargp.PointHypers: "10.07 ± 0.15", vargp.Global: "46.02 ± 1.09"}[v]
	}
	return ""
}

// variantTable is Table 1.
func (c Config) variantTable(results []Result) experiment.Table {
	last := c.Tasks - 1
	t := experiment.Table{
		Name: "variants", Title: "Accuracy after the last task",
		Note:   fmt.Sprintf("Percent; mean ± standard deviation of %d runs, M = %d, protocol %s. First task: on its test examples, right after it and after the last. Entropy: of test examples, 100 for equal probabilities.", c.Seeds, c.Inducing, c.Protocol),
		Header: []string{"variant", "all tasks", "first task then", "first task at last", "entropy"},
	}
	if published(c.Data, vargp.Full) != "" {
		t.Header = append(t.Header, "published")
		t.Note += " Published: Table 1 of the paper, on MNIST."
	}
	for _, v := range c.Variants {
		runs := of(results, plan{v, c.Inducing})
		row := []string{string(v)}
		for _, value := range []func(Result) float64{
			Result.final,
			func(r Result) float64 { return r.Accuracy[0][0] },
			func(r Result) float64 { return r.Accuracy[last][0] },
			func(r Result) float64 { return mean(r.Entropy[last]) },
		} {
			row = append(row, cell(meanSD(runs, value)))
		}
		if len(t.Header) > len(row) {
			p := published(c.Data, v)
			if p == "" {
				p = experiment.None
			}
			row = append(row, p)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

func (c Config) findings(results []Result) []string {
	var out []string
	last := c.Tasks - 1
	for _, v := range c.Variants {
		runs := of(results, plan{v, c.Inducing})
		final, sd := meanSD(runs, Result.final)
		lost, _ := meanSD(runs, func(r Result) float64 { return r.Accuracy[0][0] - r.Accuracy[last][0] })
		out = append(out, fmt.Sprintf("%s: %s %% on all tasks at the end; the first task lost %s points.", v, cell(final, sd), experiment.Percent(lost)))
	}
	return out
}

// addCurves draws the accuracy after each task (Figs. 5 and 6).
func (c Config) addCurves(o *experiment.Outcome, _ experiment.Env, _ source, results []Result) error {
	var lines []chart.Series
	t := experiment.Table{
		Name: "tasks", Title: "Accuracy on the tasks so far", Note: "Percent; mean ± standard deviation over runs.", Header: []string{"variant"},
	}
	for task := range c.Tasks {
		t.Header = append(t.Header, fmt.Sprintf("after task %d", task+1))
	}
	for i, v := range c.Variants {
		runs := of(results, plan{v, c.Inducing})
		line, row := chart.Series{Label: string(v), Colour: chart.Palette(i)}, []string{string(v)}
		for task := range c.Tasks {
			m, sd := meanSD(runs, func(r Result) float64 { return r.after(task) })
			row = append(row, cell(m, sd))
			line.Y = append(line.Y, 100*m)
			if !math.IsNaN(sd) {
				line.Band = append(line.Band, 100*sd)
			}
		}
		lines, t.Rows = append(lines, line), append(t.Rows, row)
	}
	o.Tables = append(o.Tables, t)
	f, err := chart.Lines("tasks", chart.Axes{Title: c.title(), X: "tasks learned", Y: "accuracy on the tasks so far (%)", Ticks: chart.WholeNumbers(c.Tasks)}, lines)
	o.Figures = append(o.Figures, f)
	return err
}

// addEntropy draws the entropy of the first variant (Fig. 3).
func (c Config) addEntropy(o *experiment.Outcome, _ experiment.Env, _ source, results []Result) error {
	if c.Tasks < 2 {
		return nil
	}
	runs := of(results, plan{c.Variants[0], c.Inducing})
	cells := make([][]float64, c.Tasks)
	for i := range cells {
		for j := range c.Tasks {
			m, _ := meanSD(runs, func(r Result) float64 { return r.Entropy[i][j] })
			cells[i] = append(cells[i], m)
		}
	}
	t := experiment.Table{
		Name: "entropy", Title: fmt.Sprintf("Entropy of %s (Fig. 3)", c.Variants[0]),
		Note:   "Of the test examples of each task (columns) after each task learned (rows), as a share of the logarithm of the number of heads; above the diagonal are tasks to come.",
		Header: append([]string{"after"}, chart.WholeNumbers(c.Tasks)...),
	}
	for i, r := range cells {
		row := []string{strconv.Itoa(i + 1)}
		for _, v := range r {
			row = append(row, fmt.Sprintf("%.3f", v))
		}
		t.Rows = append(t.Rows, row)
	}
	o.Tables = append(o.Tables, t)
	f, err := chart.Matrix("entropy", chart.Axes{Title: "Predictive entropy · " + string(c.Variants[0]), X: "task tested", Y: "tasks learned"}, chart.WholeNumbers(c.Tasks), cells)
	o.Figures = append(o.Figures, f)
	return err
}

// addSweep draws the accuracy by the number of inducing inputs (Fig. 9).
func (c Config) addSweep(o *experiment.Outcome, _ experiment.Env, _ source, results []Result) error {
	if len(c.Sweep) == 0 {
		return nil
	}
	t := experiment.Table{
		Name: "sweep", Title: fmt.Sprintf("Accuracy of %s by the number of inducing inputs (Fig. 9)", c.Variants[0]),
		Note: "Percent on the tasks so far; mean ± standard deviation over runs.", Header: []string{"M"},
	}
	lines := make([]chart.Series, c.Tasks)
	for task := range c.Tasks {
		t.Header = append(t.Header, fmt.Sprintf("after task %d", task+1))
		lines[task] = chart.Series{Label: fmt.Sprintf("task %d", task+1), Colour: chart.Palette(task)}
	}
	for _, m := range c.Sweep {
		runs := of(results, plan{c.Variants[0], m})
		row := []string{strconv.Itoa(m)}
		for task := range c.Tasks {
			mean, sd := meanSD(runs, func(r Result) float64 { return r.after(task) })
			row = append(row, cell(mean, sd))
			lines[task].X, lines[task].Y = append(lines[task].X, float64(m)), append(lines[task].Y, 100*mean)
		}
		t.Rows = append(t.Rows, row)
	}
	o.Tables = append(o.Tables, t)
	f, err := chart.Lines("sweep", chart.Axes{Title: c.title(), X: "inducing inputs M of a task", Y: "accuracy on the tasks so far (%)"}, lines)
	o.Figures = append(o.Figures, f)
	return err
}
