package dkl

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func (c Config) outcome(r Results) (experiment.Outcome, error) {
	sessions, err := sessionTable(r.Sessions)
	if err != nil {
		return experiment.Outcome{}, err
	}
	o := experiment.Outcome{
		Title: "Deep kernel learning on a frozen backbone", Results: r, Findings: findings(r),
		Tables: []table.Table{c.baseTable(r.Base, r.Choice.Setting), sessions},
	}
	if len(r.Choice.Scores) > 0 {
		o.Tables = append(o.Tables, c.choiceTable(r.Choice))
	}
	return o, nil
}

func (c Config) baseTable(rows []Quality, setting string) table.Table {
	t := table.Table{
		Title:  "Base classes (Achituve 2021, Table 2 in shape)",
		Header: []string{"classifier", "accuracy %", "NLL", "ECE %"},
		Note: fmt.Sprintf("%d training images of every base class are held out, the others learned; mean ± "+
			"standard error over %d seeds; no temperature. Softmax is phase 1 with its linear classifier and the "+
			"same number of epochs. Setting: %s.", c.HeldOut, c.Seeds, setting),
	}
	for _, q := range rows {
		t.Add(q.Classifier, spread(q.Accuracy, 100, "%.2f"), spread(q.NLL, 1, "%.3f"), spread(q.ECE, 100, "%.2f"))
	}
	return t
}

func sessionTable(curves []Curve) (table.Table, error) {
	t := table.Table{
		Name: "sessions", Title: "Few-shot sessions",
		Header: []string{"method", "first %", "last %", "average %", "last: base %", "last: novel %"},
		Note:   "Mean ± standard error over seeds; the benchmark's own test images.",
	}
	for _, c := range curves {
		if _, err := fscil.Summarise(fscil.Info{Method: c.Method}, c.Runs); err != nil {
			return t, err
		}
		var novel []float64
		for _, run := range c.Runs {
			if n := last(run).Novel; n != nil {
				novel = append(novel, *n)
			}
		}
		row := []string{c.name()}
		for _, values := range [][]float64{
			table.Collect(c.Runs, func(r fscil.Run) float64 { return r.Sessions[0].Accuracy }),
			c.finals(),
			table.Collect(c.Runs, fscil.Run.AverageAccuracy),
			table.Collect(c.Runs, func(r fscil.Run) float64 { return last(r).Base }),
			novel,
		} {
			row = append(row, spread(values, 100, "%.2f"))
		}
		t.Add(row...)
	}
	return t, nil
}

func last(r fscil.Run) fscil.Measures { return r.Sessions[len(r.Sessions)-1] }

func (c Curve) name() string {
	if c.Projection {
		return c.Method + " with dkl"
	}
	return c.Method
}

// finals returns the accuracies after the last session.
func (c Curve) finals() []float64 {
	return table.Collect(c.Runs, func(r fscil.Run) float64 { return last(r).Accuracy })
}

func (c Config) choiceTable(choice Choice) table.Table {
	t := table.Table{
		Name: "choice", Title: "Choosing by pseudo-sessions", Header: []string{"setting"},
		Note: fmt.Sprintf("Means over %d pseudo-sessions inside the base session; pseudo-novel classes take no part "+
			"in training. Chosen: %s.", c.Splits, choice.Setting),
	}
	for _, m := range c.ChooseBy {
		t.Header = append(t.Header, m+": base %", m+": novel %")
	}
	t.Header = append(t.Header, "mean %")
	for _, s := range choice.Scores {
		row := []string{s.Setting}
		for _, m := range c.ChooseBy {
			row = append(row, table.Percent(s.Base[m]), table.Percent(s.Novel[m]))
		}
		t.Add(append(row, table.Percent(s.Mean))...)
	}
	return t
}

// findings compares, seed by seed, the last classifier with the others and
// every method with and without the projection.
func findings(r Results) []string {
	var out []string
	best := r.Base[len(r.Base)-1]
	for _, q := range r.Base[:len(r.Base)-1] {
		accuracy, nll := table.Differences(best.Accuracy, q.Accuracy), table.Differences(best.NLL, q.NLL)
		out = append(out, fmt.Sprintf("Base classes: %s minus %s: accuracy %s points, NLL %s.", best.Classifier,
			q.Classifier, spread(accuracy, 100, "%+.2f"), spread(nll, 1, "%+.3f")))
	}
	for i := 1; i < len(r.Sessions); i += 2 {
		gain := table.Differences(r.Sessions[i].finals(), r.Sessions[i-1].finals())
		out = append(out, fmt.Sprintf("After the last session: %s minus without: %s points.", r.Sessions[i].name(),
			spread(gain, 100, "%+.2f")))
	}
	return out
}

// spread formats the mean of some values and its standard error.
func spread(values []float64, scale float64, format string) string {
	if len(values) == 0 {
		return table.None
	}
	mean, sem := table.MeanSEM(values)
	text := fmt.Sprintf(format, scale*mean)
	if math.IsNaN(sem) {
		return text
	}
	return text + fmt.Sprintf(" ± %.2g", scale*sem)
}
