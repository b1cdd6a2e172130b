package model

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/method"
)

// leftOutOf returns log-probabilities by sample.
func leftOutOf(t *testing.T, m *Model, rows map[Hash][]float32) map[SampleID][]float64 {
	t.Helper()
	out := map[SampleID][]float64{}
	err := m.LeaveOut(context.Background(), rows, func(id SampleID, logProb []float64, _ float64) {
		if out[id] != nil {
			t.Errorf("%s is visited twice", id.Class)
		}
		out[id] = slices.Clone(logProb)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLeaveOutIsAModelWithout: with at most as many examples as folds each is left out
// alone, and is scored as by a model that never saw it but has the same temperatures and
// share; the only example of a class is not visited.
func TestLeaveOutIsAModelWithout(t *testing.T) {
	s := settings("ncm")
	s.Temperature, s.OldShare = temperature.Config{Temperature: 2}, 0.7
	p := past{noisy(0, 3, "ant", "bee"), noisy(1, 2, "cat"), noisy(2, 1, "bee", "dog")}
	trained := func(p past) *Model {
		m, _, err := Train(context.Background(), s, p[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p[1:] {
			learn(t, m, b)
		}
		return m
	}
	m := trained(p)
	tau := m.Predictor.Head.(*ncm.NCM).Temperature()
	s.Heads = method.Change(s.Heads, "ncm", func(c *ncm.Config) { c.Temperature = tau })
	got := leftOutOf(t, m, nil)
	if len(got) != 9 {
		t.Errorf("%d of 10 examples left out", len(got))
	}
	for session, b := range p {
		for row, class := range b.Labels {
			if class == "dog" {
				continue
			}
			without := trained(p.where(func(s, i int, _ string) bool { return s != session || i != row }))
			want := logProb(t, without, b.only([]int{row}))
			logProbs := got[SampleID{Content: b.Content[row], Class: class}]
			for j, name := range m.Classes() {
				at := slices.Index(without.Classes(), name)
				if math.Abs(logProbs[j]-want[at]) > 1e-12 {
					t.Errorf("%s %d: log p(%s) = %g, want %g", class, row, name, logProbs[j], want[at])
				}
			}
		}
	}
}

// TestLeaveOutNeedsEverything that the model does not keep, and stops when cancelled.
func TestLeaveOutNeedsEverything(t *testing.T) {
	p := past{noisy(0, 30, "ant", "bee", "cat"), noisy(1, 4, "dog", "cat")}
	m, _, err := Train(context.Background(), settings("plda"), p[0])
	if err != nil {
		t.Fatal(err)
	}
	learn(t, m, p[1])
	rows := map[Hash][]float32{}
	for _, b := range p {
		for i, h := range b.Content {
			rows[h] = dense.Row32(b.X, i)
		}
	}
	if n := len(leftOutOf(t, m, rows)); n != 98 {
		t.Errorf("%d of 98 left out", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	visit := func(SampleID, []float64, float64) { t.Error("visited") }
	if err := m.LeaveOut(ctx, rows, visit); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	few := maps.Clone(rows)
	delete(few, p[1].Content[0])
	var missing *MissingRowsError
	if err := m.LeaveOut(context.Background(), few, visit); !errors.As(err, &missing) || missing.Missing != 1 ||
		missing.Of != 98 {
		t.Errorf("one row missing: %v", err)
	}
}

// TestLearnedAs names every class of a content.
func TestLearnedAs(t *testing.T) {
	b := noisy(0, 3, "ant", "bee")
	twice := b.only([]int{0})
	twice.Labels = []string{"cat"}
	m, _, err := Train(context.Background(), settings("ncm"), b)
	if err != nil {
		t.Fatal(err)
	}
	learn(t, m, twice)
	as := m.LearnedAs()
	if got := as(b.Content[0]); !slices.Equal(got, []string{"ant", "cat"}) {
		t.Errorf("learned as %q", got)
	}
	if got := as(noisy(9, 1, "ant").Content[0]); got != nil {
		t.Errorf("an unknown content is %q", got)
	}
}
