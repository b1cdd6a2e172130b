package fscil

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// NewTable compares results with the published rows of their data set and
// track, which must be the same for all. Our rows come first; cells are
// percentages.
func NewTable(results []Result) (table.Table, error) {
	if len(results) == 0 {
		return table.Table{}, fmt.Errorf("table: no results")
	}
	first := results[0]
	var cells grid.Grid
	for _, r := range results {
		if r.Dataset != first.Dataset || r.Track != first.Track {
			return table.Table{}, fmt.Errorf("table: %s on %s (%s) and %s on %s (%s) cannot share a table",
				first.Method, first.Dataset, first.Track, r.Method, r.Dataset, r.Track)
		}
		cells = append(cells, r.Cells...)
	}
	published, err := Published(first.Dataset, first.Track)
	if err != nil {
		return table.Table{}, err
	}
	t := table.Table{
		Text: 3,
		Note: "Percent. 1, 2, …: accuracy over all classes so far after that session; average: its mean over\n" +
			"sessions; final: the last one; drop: first minus last. base, novel, harmonic mean, forgetting: after\n" +
			"the last session.",
	}
	if len(published) == 0 {
		t.Note += " No published row is known for this data set and track; rows of other\ntracks are not comparable " +
			"and are left out."
	}
	columns := cells.Across("session", "%s", "accuracy", grid.PercentSEM)
	sessions := len(columns)
	for _, c := range [][2]string{{"average", "average_accuracy"}, {"final", "accuracy"}, {"drop", "performance_drop"},
		{"base", "base_accuracy"}, {"novel", "novel_accuracy"}, {"harmonic mean", "harmonic_mean"},
		{"forgetting", "forgetting"}} {
		columns = append(columns, grid.Column{Title: c[0], Of: c[1], Show: grid.Percent})
	}
	t = cells.Table(t, []string{"method", "backbone", "source"}, columns...)
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

//go:embed published.yaml
var publishedYAML []byte

// A PublishedRow is a published result, in percent.
type PublishedRow struct {
	Dataset  string `yaml:"dataset"`
	Track    string `yaml:"track"`
	Method   string `yaml:"method"`
	Backbone string `yaml:"backbone"`
	// Source says where the numbers were published.
	Source string `yaml:"source"`
	// Accuracy holds every session, or is empty.
	Accuracy []float64 `yaml:"accuracy"`
	// First and Last are accuracies of those sessions, Average the mean over
	// sessions, where the source gives only these.
	First   *float64 `yaml:"first"`
	Last    *float64 `yaml:"last"`
	Average *float64 `yaml:"average"`
}

// Published returns the published rows of a data set and track, in the order
// of published.yaml.
func Published(dataset, track string) ([]PublishedRow, error) {
	all, err := parsePublished(publishedYAML)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r PublishedRow) bool { return r.Dataset != dataset || r.Track != track }), nil
}

func parsePublished(text []byte) ([]PublishedRow, error) {
	var rows []PublishedRow
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("published rows: %w", err)
	}
	for i, r := range rows {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("published row %d (%s): %w", i+1, r.Method, err)
		}
	}
	return rows, nil
}

func (r PublishedRow) check() error {
	if err := setting.OneOf("track", r.Track, BaseOnly, PretrainedDisjoint, Foundation); err != nil {
		return err
	}
	if r.Dataset == "" || r.Method == "" || r.Backbone == "" || r.Source == "" {
		return fmt.Errorf("dataset, method, backbone and source must be given")
	}
	if len(r.Accuracy) > 0 == (r.First != nil || r.Last != nil || r.Average != nil) {
		return fmt.Errorf("either all sessions are given, or some of first, last and average")
	}
	for _, v := range append(slices.Clone(r.Accuracy), thoseGiven(r.First, r.Last, r.Average)...) {
		if !(v >= 0 && v <= 100) {
			return fmt.Errorf("%v is not a percentage", v)
		}
	}
	return nil
}

func thoseGiven(values ...*float64) []float64 {
	var out []float64
	for _, v := range values {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// Curve returns the accuracy (percent) of every session, NaN where it is
// unknown.
func (r PublishedRow) Curve(sessions int) []float64 {
	curve := slices.Repeat([]float64{math.NaN()}, sessions)
	if r.First != nil {
		curve[0] = *r.First
	}
	if r.Last != nil {
		curve[sessions-1] = *r.Last
	}
	copy(curve, r.Accuracy)
	return curve
}
