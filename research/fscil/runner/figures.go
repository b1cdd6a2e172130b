package runner

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// figures returns the figures that compare results, in the style of the papers: curves,
// base_novel and forgetting, in percent. Lines are labelled at their ends; colours are those
// of Okabe and Ito, which colour-blind readers can tell apart. Published rows of the same
// track are grey. All results must have the same number of sessions.
func figures(results []fscil.Result, published []fscil.PublishedRow) []chart.Figure {
	var all []chart.Figure
	known := printed(published, results)
	for _, f := range []struct {
		name, title, yLabel string
		lines               []chart.Series
	}{
		{"curves", "Accuracy on all classes so far", "accuracy (%)", append(accuracy(results), known...)},
		{"base_novel", "Base classes against novel classes", "accuracy (%)", baseAgainstNovel(results)},
		{"forgetting", "Average forgetting of earlier sessions", "forgetting (points)",
			curves(results, func(s fscil.SessionResult) float64 { return s.Forgetting })},
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

func curves(results []fscil.Result, value func(fscil.SessionResult) float64) []chart.Series {
	lines := make([]chart.Series, len(results))
	for i, r := range results {
		lines[i] = chart.Series{Label: r.Name(), Colour: chart.Palette(i), Y: each(r, value)}
	}
	return lines
}

func accuracy(results []fscil.Result) []chart.Series {
	lines := curves(results, func(s fscil.SessionResult) float64 { return s.Accuracy })
	for i, r := range results {
		if r.Runs > 1 {
			lines[i].Label += fmt.Sprintf(", %d runs ± SEM", r.Runs)
			lines[i].Band = each(r, func(s fscil.SessionResult) float64 { return *s.AccuracySEM })
		}
	}
	return lines
}

// each returns one value per session, in percent.
func each(r fscil.Result, value func(fscil.SessionResult) float64) []float64 {
	return table.Collect(r.Sessions, func(s fscil.SessionResult) float64 { return 100 * value(s) })
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

func baseAgainstNovel(results []fscil.Result) []chart.Series {
	var lines []chart.Series
	for i, r := range results {
		lines = append(lines,
			chart.Series{Label: r.Name() + ", base", Colour: chart.Palette(i),
				Y: each(r, func(s fscil.SessionResult) float64 { return s.Base })},
			chart.Series{Label: r.Name() + ", novel", Colour: chart.Palette(i), Dashed: true,
				Y: each(r, func(s fscil.SessionResult) float64 {
					if s.Novel == nil {
						return math.NaN()
					}
					return *s.Novel
				})})
	}
	return lines
}
