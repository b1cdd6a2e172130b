package grid

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// A Show formats the values of all runs.
type Show func(values []float64) string

// Percent shows the mean of fractions in percent.
func Percent(values []float64) string { return table.Percent(stat.Mean(values, nil)) }

// PercentSEM shows the mean of fractions and its standard error in percent.
func PercentSEM(values []float64) string { return table.PlusMinus(table.MeanSEM(values)) }

// PercentSD shows the mean of fractions and their standard deviation in percent.
func PercentSD(values []float64) string { return table.PlusMinus(table.MeanSD(values)) }

// Mean shows the mean of values, each multiplied by scale.
func Mean(format string, scale float64) Show {
	return func(values []float64) string { return fmt.Sprintf(format, scale*stat.Mean(values, nil)) }
}

// MeanSEM shows the mean of values, each multiplied by scale, and its standard error
// with two digits.
func MeanSEM(format string, scale float64) Show {
	return func(values []float64) string {
		mean, sem := table.MeanSEM(values)
		if math.IsNaN(sem) {
			return fmt.Sprintf(format, scale*mean)
		}
		return fmt.Sprintf(format+" ± %.2g", scale*mean, scale*sem)
	}
}

// A Column shows one measure, at a place within that of the row.
type Column struct {
	Title string
	At    Place
	Of    string
	Show  Show
}

// Across returns a column for each coordinate on an axis; title formats it.
func (g Grid) Across(axis, title, of string, show Show) []Column {
	var columns []Column
	for _, v := range g.Axis(axis) {
		columns = append(columns, Column{fmt.Sprintf(title, v), At(axis, v), of, show})
	}
	return columns
}

// Table adds to t the columns and a row for each combination of coordinates on
// some axes. The axes are in the header under their names, unless t has others.
func (g Grid) Table(t table.Table, axes []string, columns ...Column) table.Table {
	if t.Header == nil {
		t.Header = slices.Clone(axes)
	}
	for _, c := range columns {
		t.Header = append(t.Header, c.Title)
	}
	for _, p := range g.places(axes) {
		var row []string
		for _, a := range axes {
			row = append(row, text(p[a]))
		}
		own := g.Where(p)
		for _, c := range columns {
			cell := table.None
			if values := own.Values(c.At, c.Of); len(values) > 0 {
				cell = c.Show(values)
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t
}

// text returns a coordinate as a cell shows it: "" means that it does not apply.
func text(coordinate string) string {
	if coordinate == "" {
		return table.None
	}
	return coordinate
}

// Lines describes lines over the cells of a grid.
type Lines struct {
	// X is an axis or a measure, Y a measure, whose mean is multiplied by Scale.
	X, Y  string
	Scale float64
	// By are the axes with a line for each combination of their coordinates.
	By []string
	// Spread returns the mean and half the height of a band around it; nil means
	// no band.
	Spread func(values []float64) (mean, spread float64)
	// Bare lines have no markers.
	Bare bool
}

// Figure draws lines. An axis x whose coordinates are no numbers has their names.
func (g Grid) Figure(name string, a chart.Axes, l Lines) chart.Figure {
	a.Names = g.names(l.X)
	return chart.Lines(name, a, g.Lines(l))
}

// names returns the coordinates on an axis unless all are numbers.
func (g Grid) names(axis string) []string {
	at := g.Axis(axis)
	if slices.ContainsFunc(at, func(x string) bool { return !isNumber(x) }) {
		return at
	}
	return nil
}

// Lines returns lines, each named by the coordinates that not all share. On an axis x
// whose coordinates are no numbers they are at 1, 2, ….
func (g Grid) Lines(l Lines) []chart.Series {
	names := g.names(l.X)
	var lines []chart.Series
	for i, p := range g.places(l.By) {
		s := chart.Series{Label: g.label(p, l.By), Colour: chart.Palette(i), Bare: l.Bare}
		for _, c := range g.Where(p) {
			values := c.Values[l.Y]
			if len(values) == 0 {
				continue
			}
			coordinate, ok := c.At[l.X]
			x, _ := strconv.ParseFloat(coordinate, 64)
			switch {
			case !ok && len(c.Values[l.X]) == 0:
				continue
			case !ok:
				x = stat.Mean(c.Values[l.X], nil)
			case names != nil:
				x = float64(slices.Index(names, coordinate) + 1)
			}
			s.X = append(s.X, x)
			if l.Spread == nil {
				s.Y = append(s.Y, l.Scale*stat.Mean(values, nil))
				continue
			}
			mean, spread := l.Spread(values)
			s.Y, s.Band = append(s.Y, l.Scale*mean), append(s.Band, l.Scale*spread)
		}
		if len(s.Y) > 0 {
			lines = append(lines, s)
		}
	}
	return lines
}

func isNumber(coordinate string) bool {
	_, err := strconv.ParseFloat(coordinate, 64)
	return err == nil
}

func (g Grid) label(p Place, axes []string) string {
	var parts []string
	for i, a := range axes {
		part := p[a]
		if part == "" || i > 0 && len(g.Axis(a)) < 2 {
			continue
		}
		if isNumber(part) {
			part = a + " " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
