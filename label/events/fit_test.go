package events_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
)

// A fixedHead has embeddings that are log-probabilities.
type fixedHead struct {
	classifier.Head
	classes []string
}

func (h fixedHead) Classes() []string { return h.classes }
func (h fixedHead) Dim() int          { return len(h.classes) }

func (h fixedHead) Score(logProb blas64.General, novelty []float64, x blas32.General) error {
	for i := range x.Rows {
		for j := range x.Cols {
			logProb.Data[i*logProb.Stride+j] = float64(x.Data[i*x.Stride+j])
		}
		novelty[i] = 0
		if x.Data[i*x.Stride] < -60 { // marks one that is unknown
			novelty[i] = 1
		}
	}
	return nil
}

// fixedRows have embeddings by path; those without one could not be read.
type fixedRows struct {
	paths []string
	x     map[string][]float32
}

func (r fixedRows) Provenance() embedding.Provenance { return embedding.Provenance{} }

func (r fixedRows) Each(_ context.Context, emit func(embedding.Item) error) (out embedding.Outcome, err error) {
	for _, path := range r.paths {
		item := embedding.Item{Sample: dataset.Sample{Path: path}, Vector: r.x[path], Hash: sha256.Sum256([]byte(path))}
		if item.Vector == nil {
			item.Err = os.ErrInvalid
		}
		if err := emit(item); err != nil {
			return out, err
		}
	}
	return out, nil
}

// logs returns the logarithms of probabilities.
func logs(p ...float64) (out []float32) {
	for _, v := range p {
		out = append(out, float32(math.Log(v)))
	}
	return out
}

// told labels photos of one event, by path in order, and returns "label probability" of
// each, and the labels of the event.
func told(t *testing.T, added float64, decided map[string]label.Decision, x map[string][]float32) (each []string,
	all string) {
	t.Helper()
	root := t.TempDir()
	paths := slices.Sorted(maps.Keys(x))
	var photos []events.Photo
	for _, path := range paths {
		must.Do(t, os.WriteFile(filepath.Join(root, path), exifPhoto("2025:06:14 10:11:12", "", ""), 0o644))
		photos = append(photos, events.Photo{Path: path, Rows: 1})
	}
	g, err := events.Group(t.Context(), root, slices.Values(photos), events.Options{Gap: time.Minute})
	if err != nil || len(g.Events) != 1 {
		t.Fatal(len(g.Events), err)
	}
	scorer := label.Scorer{Head: fixedHead{classes: []string{"fox", "hare", "owl"}}, TopK: 1,
		Threshold: label.Above(0.5)}
	scorer.Decided = func(content [sha256.Size]byte) (label.Decision, bool) {
		for path, d := range decided {
			if content == sha256.Sum256([]byte(path)) {
				return d, true
			}
		}
		return label.Decision{}, false
	}
	rows := fixedRows{paths, x}
	fitted := must.Get(g.Fit(t.Context(), scorer, rows, added))(t)
	scorer.Events = fitted.Of
	sink := &rowSink{}
	must.Get((label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{sink}}).Run(t.Context()))(t)
	for _, e := range sink.events {
		each = append(each, strings.TrimSpace(fmt.Sprintf("%s %.3f", e.Label, e.Probability)))
	}
	return each, strings.Join(g.Events[0].Labels, " ")
}

type rowSink struct{ events []*label.Event }

func (s *rowSink) Put(row label.Scored) error     { s.events = append(s.events, row.Event); return nil }
func (s *rowSink) Commit(embedding.Outcome) error { return nil }
func (s *rowSink) Abort()                         {}

func TestTold(t *testing.T) {
	person := func(class string) label.Decision { return label.Decision{Class: class, By: label.Person} }
	fox, unsure := logs(0.7, 0.2, 0.1), logs(0.4, 0.5, 0.1)
	sureFox, sureOwl := logs(0.998, 0.001, 0.001), logs(0.001, 0.001, 0.998)
	for name, c := range map[string]struct {
		added   float64
		decided map[string]label.Decision
		x       map[string][]float32
		each    []string
		all     string
	}{
		"one photo is what it is": {0.3, nil, map[string][]float32{"a": fox}, []string{"fox 0.700"}, "fox"},
		"the mean": {0, nil, map[string][]float32{"a": fox, "b": fox},
			[]string{"fox 0.700", "fox 0.700"}, "fox"},
		// 0.49 to 0.04 to 0.01
		"independent": {1, nil, map[string][]float32{"a": fox, "b": fox}, []string{"fox 0.907", "fox 0.907"}, "fox"},
		"the unsure one follows": {1, nil, map[string][]float32{"a": fox, "b": fox, "c": unsure},
			[]string{"fox 0.885", "fox 0.885", "fox 0.885"}, "fox"},
		// The mean of 0.998 and 0.7 to the power of 1 + J/(J + 1), where they differ by J = 0.112 nats.
		"contradicting each other": {0.5, nil, map[string][]float32{"a": sureFox, "b": sureOwl, "c": fox},
			[]string{"fox 0.877", "owl 0.998", "fox 0.877"}, "fox owl"},
		"one weak contradiction is none": {1, nil, map[string][]float32{"a": sureFox, "b": logs(0.05, 0.05, 0.9)},
			[]string{"fox 0.574", "fox 0.574"}, "fox"},
		"a person rules": {1, map[string]label.Decision{"a": person("hare")},
			map[string][]float32{"a": fox, "b": fox}, []string{"hare 1.000", "hare 1.000"}, "hare"},
		"and may know more": {1, map[string]label.Decision{"a": person("lynx")},
			map[string][]float32{"a": fox, "b": fox}, []string{"lynx 1.000", "lynx 1.000"}, "lynx"},
		"a person is contradicted": {1, map[string]label.Decision{"a": person("hare")},
			map[string][]float32{"a": fox, "b": sureOwl}, []string{"hare 1.000", "owl 0.998"}, "hare owl"},
		"set aside": {1, map[string]label.Decision{"a": person("")},
			map[string][]float32{"a": sureOwl, "b": fox}, []string{"0.000", "fox 0.700"}, "fox"},
		"unknown photos say nothing, and hear": {1, nil,
			map[string][]float32{"a": {-70, 0, -70}, "b": fox}, []string{"fox 0.700", "fox 0.700"}, "fox"},
		"only unknown ones":  {1, nil, map[string][]float32{"a": {-70, 0, -70}}, []string{"0.000"}, ""},
		"one cannot be read": {1, nil, map[string][]float32{"a": nil, "b": fox}, []string{"fox 0.700"}, "fox"},
	} {
		each, all := told(t, c.added, c.decided, c.x)
		if !slices.Equal(each, c.each) || all != c.all {
			t.Errorf("%s: %q and %q, want %q and %q", name, each, all, c.each, c.all)
		}
	}
}

// TestTogetherOfManyPhotos: where each further photo adds as much as the first, the
// probability is a power of the mean; one photo that is sure and wrong is no veto.
func TestTogetherOfManyPhotos(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 5
	mean, x := make([]float64, 3), map[string][]float32{}
	for i := range n {
		p := []float64{1 + rng.Float64(), 0.5 + rng.Float64(), 0.5 + rng.Float64()}
		floats.Scale(1/floats.Sum(p), p)
		x[fmt.Sprint(i)] = logs(p...)
		floats.AddScaled(mean, 1./n, p)
	}
	all := math.Pow(mean[0], n) + math.Pow(mean[1], n) + math.Pow(mean[2], n)
	want := fmt.Sprintf("fox %.3f", math.Pow(mean[0], n)/all)
	if each, _ := told(t, 1, nil, x); each[0] != want {
		t.Errorf("%s, want %s", each[0], want)
	}
	for path := range x {
		x[path] = logs(0.5, 0.3, 0.2)
	}
	x["wrong"] = logs(1e-9, 0.5, 0.5)
	if each, labels := told(t, 0, nil, x); !strings.HasPrefix(each[0], "fox") || labels != "fox hare" {
		t.Errorf("one photo is wrong: %q of %q", each, labels)
	}
}
