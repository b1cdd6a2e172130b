package closedset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/internal/chart"
)

func (c Config) outcome(r Results) (experiment.Outcome, error) {
	o := experiment.Outcome{Title: "Heads that learn all classes at once", Results: r, Findings: c.findings(r)}
	o.Tables = []experiment.Table{c.accuracies(r), c.paired(r)}
	if t, any := c.choices(r); any {
		o.Tables = append(o.Tables, t)
	}
	figure, err := c.figure(r)
	o.Figures = []chart.Figure{figure}
	return o, err
}

func (c Config) header(first string) []string {
	out := []string{first}
	for _, n := range c.Classes {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// accuracies is Table 1.
func (c Config) accuracies(r Results) experiment.Table {
	t := experiment.Table{
		Name: "table", Title: "Accuracy by number of classes", Header: c.header("classes"),
		Note: fmt.Sprintf("Percent on test images, mean of %d runs ± standard error; %d training images a class. Empty: the head refuses so many.", c.Runs, c.PerClass),
	}
	for _, cells := range r.Cells {
		row := []string{cells[0].Row}
		for _, cell := range cells {
			row = append(row, meanCell(cell.Accuracies))
		}
		t.Rows = append(t.Rows, row)
	}
	if p, ok := publishedTables()[c.Published]; ok {
		t.Note += " " + p.note
		for _, published := range p.rows {
			t.Rows = append(t.Rows, append([]string{published.name + " (paper)"}, c.columns(p.classes, published.accuracy)...))
		}
	}
	return t
}

func meanCell(v []float64) string {
	if len(v) == 0 {
		return experiment.None
	}
	mean, sem := experiment.MeanSEM(v)
	return experiment.Percent(mean) + " ± " + experiment.Percent(sem)
}

// columns places published values under our numbers of classes.
func (c Config) columns(classes []int, values []float64) []string {
	var out []string
	for _, n := range c.Classes {
		text := experiment.None
		if i := slices.Index(classes, n); i >= 0 && values[i] != 0 {
			text = fmt.Sprintf("%.2f", values[i])
		}
		out = append(out, text)
	}
	return out
}

// paired compares the first row with the others, run by run.
func (c Config) paired(r Results) experiment.Table {
	t := experiment.Table{
		Name: "paired", Title: c.Rows[0].Name + " against the others", Header: c.header(c.Rows[0].Name + " minus"),
		Note: "Percentage points, mean of the differences in the same draw ± standard error.",
	}
	for _, cells := range r.Cells[1:] {
		row := []string{cells[0].Row}
		for i, cell := range cells {
			row = append(row, meanCell(differences(r.Cells[0][i].Accuracies, cell.Accuracies)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func differences(a, b []float64) []float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		out = append(out, a[i]-b[i])
	}
	return out
}

// choices says what validation chose.
func (c Config) choices(r Results) (experiment.Table, bool) {
	t := experiment.Table{
		Name: "chosen", Title: "Chosen settings", Header: c.header("classes"),
		Note: fmt.Sprintf("By accuracy on validation images, in brackets (%%, mean of %d runs).", c.GridRuns),
	}
	if c.GridMost < c.Classes[len(c.Classes)-1] {
		t.Note += fmt.Sprintf(" More than %d classes take the last choice.", c.GridMost)
	}
	for _, cells := range r.Cells {
		row := []string{cells[0].Row}
		for _, cell := range cells {
			row = append(row, cell.chosen())
		}
		if slices.ContainsFunc(row[1:], func(s string) bool { return s != experiment.None }) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t, len(t.Rows) > 0
}

func (c Cell) chosen() string {
	if len(c.Chosen) == 0 {
		return experiment.None
	}
	var names, parts []string
	for _, key := range slices.Sorted(maps.Keys(c.Chosen)) {
		if text := fmt.Sprint(c.Chosen[key]); strings.ContainsAny(text[:1], "0123456789-") {
			parts = append(parts, text)
		} else {
			names = append(names, text)
		}
	}
	parts = append(names, parts...)
	return fmt.Sprintf("%s (%s)", strings.Join(parts, ", "), experiment.Percent(c.Validation))
}

// findings order the rows at the three largest numbers of classes.
func (c Config) findings(r Results) []string {
	var out []string
	for i := max(0, len(c.Classes)-3); i < len(c.Classes); i++ {
		var cells []Cell
		for _, row := range r.Cells {
			if len(row[i].Accuracies) > 0 {
				cells = append(cells, row[i])
			}
		}
		mean := func(cell Cell) float64 { m, _ := experiment.MeanSEM(cell.Accuracies); return m }
		slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Compare(mean(b), mean(a)) })
		var order []string
		for _, cell := range cells {
			order = append(order, cell.Row+" "+experiment.Percent(mean(cell)))
		}
		out = append(out, fmt.Sprintf("%d classes: %s.", c.Classes[i], strings.Join(order, " > ")))
	}
	return out
}

// figure draws a line for every row.
func (c Config) figure(r Results) (chart.Figure, error) {
	ticks := c.header("")[1:]
	var lines []chart.Series
	for i, cells := range r.Cells {
		s := chart.Series{Label: cells[0].Row, Colour: chart.Palette(i)}
		for k, cell := range cells {
			if len(cell.Accuracies) == 0 {
				continue
			}
			mean, sem := experiment.MeanSEM(cell.Accuracies)
			s.X, s.Y, s.Band = append(s.X, float64(k+1)), append(s.Y, 100*mean), append(s.Band, 100*sem)
		}
		if len(s.X) > 0 {
			lines = append(lines, s)
		}
	}
	return chart.Lines("accuracy", chart.Axes{Title: fmt.Sprintf("%d training images a class", c.PerClass), X: "classes", Y: "accuracy (%)", Ticks: ticks}, lines)
}
