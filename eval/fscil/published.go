package fscil

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
)

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
	if err := oneOf("track", r.Track, BaseOnly, PretrainedDisjoint, Foundation); err != nil {
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
