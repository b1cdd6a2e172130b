package closedset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func (c Config) outcome(r Results) (experiment.Outcome, error) {
	accuracies, err := c.accuracies(r)
	o := experiment.Outcome{
		Title: "Heads that learn all classes at once", Results: r, Findings: c.findings(r),
		Tables: []table.Table{accuracies, c.paired(r)}, Figures: []chart.Figure{c.figure(r)},
	}
	if t := c.choices(r); len(t.Rows) > 0 {
		o.Tables = append(o.Tables, t)
	}
	return o, err
}

func (c Config) header(first string) []string {
	return append([]string{first}, table.Numbers(c.Classes)...)
}

// row returns a row of a table: its name and a text for each cell.
func row(cells []Cell, text func(int, Cell) string) []string {
	out := []string{cells[0].Row}
	for i, c := range cells {
		out = append(out, text(i, c))
	}
	return out
}

// accuracies returns Table 1.
func (c Config) accuracies(r Results) (table.Table, error) {
	t := table.Table{
		Name: "table", Title: "Accuracy by number of classes", Header: c.header("classes"),
		Note: fmt.Sprintf("Percent on test images, mean of %d runs ± standard error; %d training images per class. "+
			"Empty: the head refuses so many.", c.Runs, c.PerClass),
	}
	for _, cells := range r.Cells {
		t.Add(row(cells, func(_ int, c Cell) string { return table.PlusMinus(table.MeanSEM(c.Accuracies)) })...)
	}
	p, err := c.published()
	t.Note = strings.TrimSpace(t.Note + " " + p.Title)
	for i, theirs := range p.Rows {
		t.Add(append([]string{theirs.Name + " (paper)"}, p.Cells(i, c.Classes)...)...)
	}
	return t, err
}

// paired compares the first row with the others, run by run.
func (c Config) paired(r Results) table.Table {
	t := table.Table{
		Name: "paired", Title: c.Rows[0].Name + " against the others", Header: c.header(c.Rows[0].Name + " minus"),
		Note: "Percentage points, mean of the differences in the same draw ± standard error.",
	}
	for _, cells := range r.Cells[1:] {
		t.Add(row(cells, func(i int, c Cell) string {
			return table.PlusMinus(table.MeanSEM(table.Differences(r.Cells[0][i].Accuracies, c.Accuracies)))
		})...)
	}
	return t
}

// choices returns the table of chosen settings.
func (c Config) choices(r Results) table.Table {
	t := table.Table{
		Name: "chosen", Title: "Chosen settings", Header: c.header("classes"),
		Note: fmt.Sprintf("By accuracy on validation images, in brackets (%%, mean of %d runs).", c.GridRuns),
	}
	if c.GridMost < c.Classes[len(c.Classes)-1] {
		t.Note += fmt.Sprintf(" More than %d classes use the last choice.", c.GridMost)
	}
	for _, cells := range r.Cells {
		if slices.ContainsFunc(cells, func(c Cell) bool { return len(c.Chosen) > 0 }) {
			t.Add(row(cells, func(_ int, c Cell) string { return c.chosen() })...)
		}
	}
	return t
}

// chosen formats the chosen values, names before numbers.
func (c Cell) chosen() string {
	if len(c.Chosen) == 0 {
		return table.None
	}
	var names, numbers []string
	for _, key := range slices.Sorted(maps.Keys(c.Chosen)) {
		if text := fmt.Sprint(c.Chosen[key]); strings.ContainsAny(text[:1], "0123456789-") {
			numbers = append(numbers, text)
		} else {
			names = append(names, text)
		}
	}
	return fmt.Sprintf("%s (%s)", strings.Join(append(names, numbers...), ", "), table.Percent(c.Validation))
}

// findings ranks the rows at the three largest numbers of classes.
func (c Config) findings(r Results) []string {
	type place struct {
		row  string
		mean float64
	}
	var out []string
	for i := max(0, len(c.Classes)-3); i < len(c.Classes); i++ {
		var places []place
		for _, row := range r.Cells {
			if len(row[i].Accuracies) > 0 {
				mean, _ := table.MeanSEM(row[i].Accuracies)
				places = append(places, place{row[i].Row, mean})
			}
		}
		slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.mean, a.mean) })
		var order []string
		for _, p := range places {
			order = append(order, p.row+" "+table.Percent(p.mean))
		}
		out = append(out, fmt.Sprintf("%d classes: %s.", c.Classes[i], strings.Join(order, " > ")))
	}
	return out
}

// figure draws one line per row.
func (c Config) figure(r Results) chart.Figure {
	var lines []chart.Series
	for i, cells := range r.Cells {
		s := chart.Series{Label: cells[0].Row, Colour: chart.Palette(i)}
		for k, cell := range cells {
			if len(cell.Accuracies) > 0 {
				mean, sem := table.MeanSEM(cell.Accuracies)
				s.X, s.Y, s.Band = append(s.X, float64(c.Classes[k])), append(s.Y, 100*mean), append(s.Band, 100*sem)
			}
		}
		if len(s.X) > 0 {
			lines = append(lines, s)
		}
	}
	return chart.Lines("accuracy", chart.Axes{
		Title: fmt.Sprintf("Accuracy by number of classes · %d training images per class", c.PerClass),
		X:     "classes", Y: "accuracy (%)",
	}, lines)
}
