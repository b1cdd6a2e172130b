package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

const statsDim = 6

// crowd returns n samples of each class, with random values.
func crowd(seed uint64, n int, classes ...string) Batch {
	rng := rand.New(rand.NewPCG(seed, 77))
	var b Batch
	b.X = blas32.General{Cols: statsDim, Stride: statsDim}
	for i, class := range classes {
		for range n {
			row := make([]float32, statsDim)
			for j := range row {
				row[j] = float32(rng.NormFloat64()) / 4
			}
			row[i%statsDim]++
			b.X.Data, b.X.Rows = append(b.X.Data, row...), b.X.Rows+1
			b.Labels, b.Content = append(b.Labels, class), append(b.Content, embedding.HashRow(row))
		}
	}
	return b
}

// collected returns statistics of some rows of a batch.
func collected(t testing.TB, b Batch, rows []int) *classstats.Stats {
	t.Helper()
	s := classstats.New(statsDim, true)
	for _, i := range rows {
		must.Get(s.Add(SampleID{Content: b.Content[i], Class: b.Labels[i]}, dense.Row32(b.X, i)))(t)
	}
	return s
}

func merged(t *testing.T, a, b *classstats.Stats) {
	t.Helper()
	must.Get(a.Merge(b))(t)
}

// Trained on statistics and on examples: the same model except for what needs
// examples.
func TestTrainStatsIsTrain(t *testing.T) {
	b := crowd(1, 20, "ant", "bee", "cat", "dog")
	for _, name := range []string{"ncm", "plda", "ppca"} {
		set := settings(name)
		set.Temperature.Temperature = 1
		set.Heads = method.Change(set.Heads, "ncm", func(c *ncm.Config) { c.Temperature = 0.05 })
		set.Heads = method.Change(set.Heads, "plda", func(c *plda.Config) { c.LeaveOut = false })
		want, _ := must.Get2(Train(context.Background(), set, b))(t)
		got, o, err := TrainStats(context.Background(), set, collected(t, b, seq(b.X.Rows)))
		if err != nil || o.Added != 80 || len(o.NewClasses) != 4 {
			t.Fatalf("%s: %+v, %v", name, o, err)
		}
		p, q := logProb(t, got, b), logProb(t, want, b)
		for i := range q { // statistics are of unit vectors rounded to float32
			if math.Abs(p[i]-q[i]) > 1e-4*max(1, math.Abs(q[i])) {
				t.Fatalf("%s: log-probability %v, want %v", name, p[i], q[i])
			}
		}
		if _, err := got.Threshold(0.05); err == nil || !strings.Contains(err.Error(), "statistics") {
			t.Errorf("%s: %v", name, err)
		}
		back := mustLoad(t, savedAs(t, got))
		if o := learn(t, back, b); o.Changed() {
			t.Errorf("%s: the images behind the statistics are learned again: %+v", name, o)
		}
		if o := learn(t, back, crowd(9, 3, "bee", "eel")); o.Added != 6 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestTrainStatsRefuses(t *testing.T) {
	ctx, b := context.Background(), crowd(1, 5, "ant", "bee")
	if _, _, err := TrainStats(ctx, settings("plda"), classstats.New(statsDim, true)); err == nil {
		t.Error("of nothing")
	}
	raw := collected(t, b, seq(10))
	raw.Unit = false
	if _, _, err := TrainStats(ctx, settings("plda"), raw); err == nil ||
		!strings.Contains(err.Error(), "without raw") {
		t.Errorf("raw: %v", err)
	}
	euclid := settings("ncm")
	euclid.Heads = method.Change(euclid.Heads, "ncm", func(c *ncm.Config) { c.Metric = ncm.Euclidean })
	if _, _, err := TrainStats(ctx, euclid, collected(t, b, seq(10))); err == nil ||
		!strings.Contains(err.Error(), "with raw") {
		t.Errorf("unit: %v", err)
	}
	if _, err := faked(newPlain).learnStats(ctx, raw); !errors.Is(err, classifier.ErrUnsupported) ||
		!strings.Contains(err.Error(), "images or features") {
		t.Errorf("a head that needs examples: %v", err)
	}
}

// A model that learns statistics equals one that learned all the samples: new
// classes, more samples of old ones, and known samples once.
func TestLearnStatsIsLearn(t *testing.T) {
	base, more := crowd(1, 20, "ant", "bee"), crowd(2, 4, "bee", "cat", "dog")
	whole := collected(t, more, seq(more.X.Rows))
	merged(t, whole, collected(t, base, []int{0, 21})) // an ant alone: thin
	for _, name := range []string{"ncm", "plda", "ppca"} {
		set := settings(name)
		set.Temperature.Temperature = 1
		set.Heads = method.Change(set.Heads, "ncm", func(c *ncm.Config) { c.Temperature = 0.05 })
		var both [2]*Model
		for i := range both {
			m, _ := must.Get2(Train(context.Background(), set, base))(t)
			both[i] = mustLoad(t, savedAs(t, m)) // the statistics are in the side file
		}
		learn(t, both[1], more)
		for range 2 {
			o, err := both[0].LearnStats(context.Background(), whole)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if o.Changed() && (o.Added != 12 || o.AlreadyKnown != 2 || len(o.NewClasses) != 2 || len(o.MoreOf) != 1) ||
				!o.Changed() && o.AlreadyKnown != 14 {
				t.Errorf("%s: %+v", name, o)
			}
		}
		p, q := logProb(t, mustLoad(t, savedAs(t, both[0])), more), logProb(t, both[1], more)
		for i := range q { // statistics are of unit vectors rounded to float32
			if math.Abs(p[i]-q[i]) > 1e-4*max(1, math.Abs(q[i])) {
				t.Fatalf("%s: log-probability %v, want %v", name, p[i], q[i])
			}
		}
		if o := learn(t, both[0], more); o.Changed() {
			t.Errorf("%s: the images behind the statistics are learned again: %+v", name, o)
		}
	}
}

func TestLearnStatsRefuses(t *testing.T) {
	ctx, b := context.Background(), crowd(1, 20, "ant", "bee")
	m, _ := must.Get2(Train(ctx, settings("plda"), b))(t)
	part, rest := collected(t, b, seq(9)), crowd(3, 9, "ant", "bee")
	merged(t, part, collected(t, rest, seq(rest.X.Rows)))
	raw := collected(t, rest, seq(4))
	raw.Unit = false
	for name, c := range map[string]struct {
		stats *classstats.Stats
		want  error
		says  string
	}{
		"half of it known": {part, classstats.ErrCountedTwice, "with except"},
		"dimension":        {classstats.New(statsDim+1, true), embedding.ErrOtherBackbone, "7 dimensions"},
		"not of length 1":  {raw, nil, "without raw"},
	} {
		_, err := m.LearnStats(ctx, c.stats)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(m.Sessions) != 1 || m.SampleCount() != 40 {
		t.Errorf("%d sessions, %d samples", len(m.Sessions), m.SampleCount())
	}
	if o, err := m.LearnStats(ctx, classstats.New(statsDim, true)); err != nil || o.Changed() {
		t.Errorf("nothing to learn: %+v, %v", o, err)
	}
	set := settings("plda")
	set.DKL = new(dkl.DefaultTraining())
	if _, _, err := TrainStats(ctx, set, part); !errors.Is(err, classifier.ErrUnsupported) ||
		!strings.Contains(err.Error(), "projected") {
		t.Errorf("behind a projection: %v", err)
	}
}

func TestStatsAreNoModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.stats")
	must.Do(t, collected(t, crowd(1, 5, "ant", "bee"), seq(10)).Save(path))
	if _, err := Load(path); !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "class statistics") {
		t.Errorf("statistics as a model: %v", err)
	}
}
