package runner

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// figures returns the figures that compare results, in the style of the papers: curves,
// base_novel and forgetting, in percent. Lines are labelled at their ends; colours are those
// of Okabe and Ito, which colour-blind readers can tell apart. Published rows of the same
// track are grey. All results must have the same number of sessions.
func figures(results []fscil.Result, published []fscil.PublishedRow) []chart.Figure {
	var cells grid.Grid
	for _, r := range results {
		cells = append(cells, r.Cells...)
	}
	lines := func(measure string) []chart.Series {
		return cells.Lines(grid.Lines{
			X: "session", Y: measure, Scale: 100, By: []string{"method"}, Spread: table.MeanSEM,
		})
	}
	known, accuracy := printed(published, results), lines("accuracy")
	for i, r := range results {
		if r.Runs > 1 {
			accuracy[i].Label += fmt.Sprintf(", %d runs ± SEM", r.Runs)
		}
	}
	var all []chart.Figure
	for _, f := range []struct {
		name, title, yLabel string
		lines               []chart.Series
	}{
		{"curves", "Accuracy on all classes so far", "accuracy (%)", append(accuracy, known...)},
		{"base_novel", "Base classes against novel classes", "accuracy (%)",
			append(part(lines("base_accuracy"), "base"), part(lines("novel_accuracy"), "novel")...)},
		{"forgetting", "Average forgetting of earlier sessions", "forgetting (points)", part(lines("forgetting"), "")},
	} {
		axes := chart.Axes{
			Title: fmt.Sprintf("%s · %s, track %s", f.title, results[0].Dataset, results[0].Track),
			X:     "session", Y: f.yLabel,
		}
		if f.name == "curves" && slices.ContainsFunc(known, func(s chart.Series) bool { return s.Dashed }) {
			axes.X += " (dashed: only the first and the last are published)"
		}
		all = append(all, chart.Lines(f.name, axes, f.lines))
	}
	return all
}

// part names the lines by a part of the classes, without bands.
func part(lines []chart.Series, name string) []chart.Series {
	for i := range lines {
		if lines[i].Band = nil; name != "" {
			lines[i].Label += ", " + name
		}
	}
	return lines
}

// printed returns the published rows that have at least one session.
func printed(rows []fscil.PublishedRow, results []fscil.Result) []chart.Series {
	sessions := len(results[0].Sessions)
	var lines []chart.Series
	for _, r := range rows {
		s := chart.Series{Label: r.Method, Colour: chart.Grey(), Thin: true, Y: r.Curve(sessions)}
		s.Dashed = len(r.Accuracy) == 0
		if slices.ContainsFunc(s.Y, func(y float64) bool { return !math.IsNaN(y) }) {
			lines = append(lines, s)
		}
	}
	return lines
}
