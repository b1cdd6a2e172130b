package dkl

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/eval/fscil"
)

func (c Config) outcome(r Results) (experiment.Outcome, error) {
	sessions, err := sessionTable(r.Sessions)
	if err != nil {
		return experiment.Outcome{}, err
	}
	o := experiment.Outcome{
		Title: "Deep kernel learning on a frozen backbone", Results: r,
		Findings: append(baseFindings(r.Base), sessionFindings(r.Sessions)...),
		Tables:   []experiment.Table{c.baseTable(r.Base, r.Choice.Setting), sessions},
	}
	if len(r.Choice.Scores) > 0 {
		o.Tables = append(o.Tables, choiceTable(c, r.Choice))
	}
	return o, nil
}

func (c Config) baseTable(rows []Quality, setting string) experiment.Table {
	t := experiment.Table{
		Title: "Base classes (Achituve 2021, Table 2 in shape)", Header: []string{"classifier", "accuracy %", "NLL", "ECE %"},
		Note: fmt.Sprintf("%d training images of every base class held out, the others learned; mean ± standard error over %d seeds; no temperature. Softmax is phase 1 with its linear classifier, as many epochs. Setting: %s.", c.HeldOut, c.Seeds, setting),
	}
	for _, q := range rows {
		t.Rows = append(t.Rows, []string{q.Classifier, spread(q.Accuracy, 100, "%.2f"), spread(q.NLL, 1, "%.3f"), spread(q.ECE, 100, "%.2f")})
	}
	return t
}

func sessionTable(curves []Curve) (experiment.Table, error) {
	t := experiment.Table{
		Name: "sessions", Title: "Few-shot sessions", Header: []string{"method", "first %", "last %", "average %", "last: base %", "last: novel %"},
		Note: "Mean ± standard error over seeds; the benchmark's own test images.",
	}
	for _, c := range curves {
		if _, err := fscil.Summarise(fscil.Info{Method: c.Method}, c.Runs); err != nil {
			return t, err
		}
		var first, last, average, base, novel []float64
		for _, run := range c.Runs {
			at := run.Sessions
			end := at[len(at)-1]
			first, last, base = append(first, at[0].Accuracy), append(last, end.Accuracy), append(base, end.Base)
			if end.Novel != nil {
				novel = append(novel, *end.Novel)
			}
			average = append(average, meanAccuracy(run))
		}
		t.Rows = append(t.Rows, []string{c.name(), spread(first, 100, "%.2f"), spread(last, 100, "%.2f"), spread(average, 100, "%.2f"), spread(base, 100, "%.2f"), spread(novel, 100, "%.2f")})
	}
	return t, nil
}

func (c Curve) name() string {
	if c.Projection {
		return c.Method + " with dkl"
	}
	return c.Method
}

func meanAccuracy(r fscil.Run) float64 {
	var sum float64
	for _, s := range r.Sessions {
		sum += s.Accuracy / float64(len(r.Sessions))
	}
	return sum
}

func choiceTable(c Config, choice Choice) experiment.Table {
	t := experiment.Table{
		Name: "choice", Title: "Choosing by pseudo-sessions", Header: []string{"setting"},
		Note: fmt.Sprintf("Means over %d pseudo-sessions inside the base session; pseudo-novel classes take no part in training. Taken: %s.", c.Splits, choice.Setting),
	}
	for _, m := range c.ChooseBy {
		t.Header = append(t.Header, m+": base %", m+": novel %")
	}
	t.Header = append(t.Header, "mean %")
	for _, s := range choice.Scores {
		row := []string{s.Setting}
		for _, m := range c.ChooseBy {
			row = append(row, experiment.Percent(s.Base[m]), experiment.Percent(s.Novel[m]))
		}
		t.Rows = append(t.Rows, append(row, experiment.Percent(s.Mean)))
	}
	return t
}

// baseFindings compares the last two classifiers and the softmax, seed by seed.
func baseFindings(rows []Quality) []string {
	last := rows[len(rows)-1]
	var out []string
	for _, q := range rows[:len(rows)-1] {
		out = append(out, fmt.Sprintf("Base classes: %s less %s: accuracy %s points, NLL %s.", last.Classifier, q.Classifier, difference(last.Accuracy, q.Accuracy, 100, "%+.2f"), difference(last.NLL, q.NLL, 1, "%+.3f")))
	}
	return out
}

func sessionFindings(curves []Curve) []string {
	var out []string
	for i := 1; i < len(curves); i += 2 {
		with, without := finals(curves[i].Runs), finals(curves[i-1].Runs)
		out = append(out, fmt.Sprintf("After the last session: %s less without: %s points.", curves[i].name(), difference(with, without, 100, "%+.2f")))
	}
	return out
}

func finals(runs []fscil.Run) []float64 {
	out := make([]float64, len(runs))
	for i, r := range runs {
		out[i] = r.Sessions[len(r.Sessions)-1].Accuracy
	}
	return out
}

func difference(a, b []float64, scale float64, format string) string {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return spread(d, scale, format)
}

// spread writes the mean of some values and its standard error.
func spread(values []float64, scale float64, format string) string {
	if len(values) == 0 {
		return experiment.None
	}
	var mean, sq float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	text := fmt.Sprintf(format, scale*mean)
	if len(values) < 2 {
		return text
	}
	for _, v := range values {
		sq += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return text + fmt.Sprintf(" ± %.2g", scale*math.Sqrt(sq/(n-1)/n))
}
