package model

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// leftOutOf returns log-probabilities by sample.
func leftOutOf(t *testing.T, m *Model, rows map[Hash][]float32) map[SampleID][]float64 {
	t.Helper()
	out := map[SampleID][]float64{}
	must.Do(t, m.LeaveOut(context.Background(), rows, func(l Verdict) {
		if out[l.ID] != nil {
			t.Errorf("%s is visited twice", l.ID.Class)
		}
		out[l.ID] = slices.Clone(l.LogProb)
	}))
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
		m, _ := must.Get2(Train(context.Background(), s, p[0]))(t)
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

// TestLeaveOutOfEveryHead: what is said of a left-out example, in more dimensions than there
// are examples, is what a head with the same settings says that has never seen it.
func TestLeaveOutOfEveryHead(t *testing.T) {
	b := wide(9, 40, "ant", "bee", "cat")
	for _, kind := range method.Methods() {
		t.Run(kind.Name, func(t *testing.T) {
			m, _ := must.Get2(Train(context.Background(), settings(kind.Name), b))(t)
			head, err := m.Predictor.unfitted()
			if err != nil {
				t.Fatal(err)
			}
			if _, slow := head.(classifier.Slow); slow {
				t.Skip("it is left out with others, in three folds")
			}
			counts, ok := head.(classifier.Counting)
			fold := folds(b, ok && counts.Counting())
			left := leftOutOf(t, m, nil)
			if len(left) != len(b.Labels) {
				t.Errorf("%d of %d left out", len(left), len(b.Labels))
			}
			for i, class := range b.Labels {
				with := func(j int) bool { return fold[j] == fold[i] }
				rest := b.only(slices.DeleteFunc(dense.Range(0, len(fold)), with))
				if head, err = m.Predictor.unfitted(); err == nil {
					err = head.Learn(context.Background(), rest.X, rest.Labels)
				}
				if err != nil {
					t.Fatal(err)
				}
				want := logProbOf(t, head, b.only([]int{i}).X)
				m.Predictor.Temper(blas64.General{Rows: 1, Cols: len(want), Stride: len(want), Data: want})
				got := left[SampleID{Content: b.Content[i], Class: class}]
				for j, name := range m.Classes() {
					if at := slices.Index(head.Classes(), name); math.Abs(got[j]-want[at]) > 1e-9 {
						t.Errorf("%s %d: log p(%s) = %g, want %g", class, i, name, got[j], want[at])
					}
				}
			}
		})
	}
}

// folds returns a fold for each example: its own or, of a head that counts, one for the first
// of every class, one for the second, …
func folds(b Batch, counts bool) []int {
	fold := dense.Range(0, len(b.Labels))
	if !counts {
		return fold
	}
	for _, class := range classifier.GroupByClass(b.Labels) {
		var rows [][]float32
		for _, i := range class.Rows {
			rows = append(rows, dense.Row32(b.X, i))
		}
		for f, i := range holdout.Order(rows) {
			fold[class.Rows[i]] = f
		}
	}
	return fold
}

// wide returns n examples of d values, of classes in turn.
func wide(n, d int, classes ...string) Batch {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	b := Batch{X: dense.New32(n, d)}
	for i := range n {
		row := dense.Row32(b.X, i)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		row[i%len(classes)] += 3
		b.Labels = append(b.Labels, classes[i%len(classes)])
		b.Content = append(b.Content, Hash(dense.Hash32(row)))
	}
	return b
}

// TestLeaveOutNeedsEverything that the model does not keep, and stops when cancelled.
func TestLeaveOutNeedsEverything(t *testing.T) {
	p := past{noisy(0, 30, "ant", "bee", "cat"), noisy(1, 4, "dog", "cat")}
	m, _ := must.Get2(Train(context.Background(), settings("plda"), p[0]))(t)
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
	visit := func(Verdict) { t.Error("visited") }
	if err := m.LeaveOut(ctx, rows, visit); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	few := maps.Clone(rows)
	delete(few, p[1].Content[7])
	var missing *MissingRowsError
	if err := m.LeaveOut(context.Background(), few, visit); !errors.As(err, &missing) || missing.Missing != 1 ||
		missing.Of != 98 {
		t.Errorf("one row missing: %v", err)
	}
}

// TestLeaveOutOfLaterSessions: without the embeddings of the base session, the examples of
// later ones are left out all the same, as by a model that learned the base session and all
// others.
func TestLeaveOutOfLaterSessions(t *testing.T) {
	p := past{noisy(0, 30, "ant", "bee", "cat"), noisy(1, 3, "cat", "dog"), noisy(2, 1, "eel")}
	s := settings("plda")
	trained := func(p past) *Model {
		m, _ := must.Get2(Train(context.Background(), s, p[0]))(t)
		for _, b := range p[1:] {
			learn(t, m, b)
		}
		return m
	}
	m, rows := trained(p), map[Hash][]float32{}
	for _, b := range p[1:] {
		for i, h := range b.Content {
			rows[h] = dense.Row32(b.X, i)
		}
	}
	got := map[SampleID][]float64{}
	var missing *MissingRowsError
	err := m.LeaveOut(context.Background(), rows, func(l Verdict) {
		got[l.ID] = slices.Clone(l.LogProb)
	})
	if !errors.As(err, &missing) || missing.Missing != 90 {
		t.Errorf("without the base session: %v", err)
	}
	if len(got) != 6 {
		t.Errorf("%d of the 6 examples of cat and dog left out", len(got))
	}
	for row, class := range p[1].Labels {
		without := trained(p.where(func(s, i int, _ string) bool { return s != 1 || i != row }))
		want := logProbOf(t, without.Predictor.Head, p[1].only([]int{row}).X)
		m.Predictor.Temper(blas64.General{Rows: 1, Cols: len(want), Stride: len(want), Data: want})
		logProbs := got[SampleID{Content: p[1].Content[row], Class: class}]
		for j, name := range m.Classes() {
			if at := slices.Index(without.Classes(), name); math.Abs(logProbs[j]-want[at]) > 1e-9 {
				t.Errorf("%s %d: log p(%s) = %g, want %g", class, row, name, logProbs[j], want[at])
			}
		}
	}
}

// TestLearnedAs names every class of a content.
func TestLearnedAs(t *testing.T) {
	b := noisy(0, 3, "ant", "bee")
	twice := b.only([]int{0})
	twice.Labels = []string{"cat"}
	m, _ := must.Get2(Train(context.Background(), settings("ncm"), b))(t)
	learn(t, m, twice)
	as := m.LearnedAs()
	if got := as(b.Content[0]); !slices.Equal(got, []string{"ant", "cat"}) {
		t.Errorf("learned as %q", got)
	}
	if got := as(noisy(9, 1, "ant").Content[0]); got != nil {
		t.Errorf("an unknown content is %q", got)
	}
}
