package fscil

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/eval/table"
)

// NewTable compares results with the published rows of their data set and
// track, which must be the same for all. Our rows come first; cells are
// percentages.
func NewTable(results []Result) (table.Table, error) {
	if len(results) == 0 {
		return table.Table{}, fmt.Errorf("table: no results")
	}
	first := results[0]
	sessions := 0
	for _, r := range results {
		if r.Dataset != first.Dataset || r.Track != first.Track {
			return table.Table{}, fmt.Errorf("table: %s on %s (%s) and %s on %s (%s) cannot share a table", first.Method, first.Dataset, first.Track, r.Method, r.Dataset, r.Track)
		}
		sessions = max(sessions, len(r.Sessions))
	}
	published, err := Published(first.Dataset, first.Track)
	if err != nil {
		return table.Table{}, err
	}
	t := table.Table{
		Text: 3, Header: []string{"method", "backbone", "source"},
		Note: "Percent. 1, 2, …: accuracy over all classes so far after that session; average: its mean over\n" +
			"sessions; final: the last one; drop: first minus last. base, novel, harmonic mean, forgetting: after\n" +
			"the last session.",
	}
	if len(published) == 0 {
		t.Note += " No published row is known for this data set and track; rows of other\ntracks are not comparable and are left out."
	}
	for s := range sessions {
		t.Header = append(t.Header, strconv.Itoa(s+1))
	}
	t.Header = append(t.Header, "average", "final", "drop", "base", "novel", "harmonic mean", "forgetting")
	for _, r := range results {
		t.Add(r.row(sessions)...)
	}
	for _, r := range published {
		t.Add(r.row(sessions)...)
	}
	return t, nil
}

// TrackText describes what the backbones of a track had seen.
func TrackText(track string) string {
	switch track {
	case BaseOnly:
		return "Backbones trained on the base session's images and nothing else."
	case PretrainedDisjoint:
		return "Backbones pretrained on other images, of classes other than the novel ones."
	}
	return "Backbones that have seen, or may have seen, the novel classes. Not comparable with other tracks."
}

func (r Result) row(sessions int) []string {
	method, source := r.Method, "this run"
	if r.MaxPerClass > 0 {
		method = fmt.Sprintf("%s (at most %d per class)", r.Method, r.MaxPerClass)
	}
	if r.Runs > 1 {
		source = fmt.Sprintf("these %d runs, ± SEM", r.Runs)
	}
	row := []string{method, r.Backbone, source}
	for s := range sessions {
		cell := table.None
		if s < len(r.Sessions) {
			cell = table.Percent(r.Sessions[s].Accuracy)
			if sem := r.Sessions[s].AccuracySEM; sem != nil {
				cell = table.PlusMinus(r.Sessions[s].Accuracy, *sem)
			}
		}
		row = append(row, cell)
	}
	last := r.Sessions[len(r.Sessions)-1]
	return append(row, table.Percent(r.AverageAccuracy), table.Percent(r.FinalAccuracy), table.Percent(r.PerformanceDrop),
		table.Percent(last.Base), table.PercentOr(last.Novel), table.PercentOr(last.Harmonic), table.Percent(r.AverageForgetting))
}

func (r PublishedRow) row(sessions int) []string {
	row := []string{r.Method, r.Backbone, r.Source}
	curve := r.Curve(sessions)
	average, last := math.NaN(), curve[sessions-1]
	if r.Average != nil {
		average = *r.Average
	}
	if len(r.Accuracy) > 0 {
		average = stat.Mean(r.Accuracy, nil)
	}
	drop := math.NaN()
	if sessions > 1 {
		drop = curve[0] - last
	}
	for _, percent := range append(curve, average, last, drop) {
		cell := table.None
		if !math.IsNaN(percent) {
			cell = strconv.FormatFloat(percent, 'f', 2, 64)
		}
		row = append(row, cell)
	}
	return append(row, table.None, table.None, table.None, table.None)
}
