package dkl

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

func small() Training {
	t := DefaultTraining()
	t.Dim, t.Epochs, t.Pretrain, t.Steps, t.Batch, t.Rate, t.Inducing, t.Validation, t.Seed = 12, 6, 2, 0, 16, 0.02, 2,
		0.2, 7
	return t
}

func newTestTrainer(t testing.TB, cfg Training, e Examples) *Trainer {
	t.Helper()
	return must.Get(NewTrainer(cfg, gptree.DefaultConfig(), e, linalg.Backend{}))(t)
}

func finish(t testing.TB, tr *Trainer) {
	t.Helper()
	for !tr.Done() {
		must.Get(tr.Epoch(context.Background()))(t)
	}
}

func state(t testing.TB, tr *Trainer) classifier.State {
	t.Helper()
	return must.Get(tr.Save())(t)
}

func sameState(a, b classifier.State) bool {
	same := string(a.Settings) == string(b.Settings) && len(a.Tensors) == len(b.Tensors)
	for name, v := range a.Tensors {
		same = same && slices.Equal(v.F64, b.Tensors[name].F64)
	}
	return same
}

// Both phases lower their loss, and the result separates the classes.
func TestTrainingLearns(t *testing.T) {
	cfg := small()
	cfg.Epochs, cfg.Pretrain, cfg.Patience = 16, 6, 0
	tr := newTestTrainer(t, cfg, blobs(6, 40, 8, 0, 0.6))
	finish(t, tr)
	h := tr.History()
	if len(h) != 16 || h[5].Phase != CrossEntropy || h[6].Phase != Tree {
		t.Fatalf("%+v", h)
	}
	if !(h[5].Loss < h[0].Loss) || !(h[15].Loss < h[6].Loss) || *h[15].Accuracy < 0.9 {
		t.Errorf("from %+v to %+v, then from %+v to %+v", h[0], h[5], h[6], h[15])
	}
	p := tr.Trained()
	if p.Start == nil || p.Start.Tree.Classes() != 6 || len(p.Start.Inducing[3]) != 2 || p.Best < 7 {
		t.Fatalf("%+v", p)
	}
	// What was held out is judged by the very head that is returned.
	best := h[p.Best-1]
	for _, e := range h[6:] {
		if *e.Accuracy > *best.Accuracy {
			t.Errorf("epoch %d is better than %d", e.Epoch, p.Best)
		}
	}
}

// Results are the same bytes for any number of threads, any order of the examples,
// and a stop after any epoch.
func TestTrainingRepeatsBitForBit(t *testing.T) {
	e := blobs(5, 20, 6, 1, 0.7)
	cfg := small()
	cfg.Views = 1
	want := newTestTrainer(t, cfg, e)
	var saved []classifier.State
	for !want.Done() {
		saved = append(saved, state(t, want))
		must.Get(want.Epoch(context.Background()))(t)
	}
	last := state(t, want)
	for at, s := range saved {
		threads := runtime.GOMAXPROCS(1 + at%3)
		tr := newTestTrainer(t, cfg, turned(e))
		must.Do(t, tr.Restore(s))
		finish(t, tr)
		runtime.GOMAXPROCS(threads)
		if !sameState(state(t, tr), last) {
			t.Errorf("stopped after %d epochs: other bytes", at)
		}
		if !slices.Equal(tr.Trained().Projection.theta, want.Trained().Projection.theta) {
			t.Errorf("stopped after %d epochs: another head", at)
		}
	}
}

// turned is the examples in reverse order.
func turned(e Examples) Examples {
	rows := dense.Range(0, e.X.Rows)
	slices.Reverse(rows)
	out := Examples{X: dense.Gather32(e.X, rows)}
	for _, r := range rows {
		out.Y = append(out.Y, e.Y[r])
	}
	for _, v := range e.Views {
		out.Views = append(out.Views, dense.Gather32(v, rows))
	}
	return out
}

func TestCheckpointsOfOthersAreRefused(t *testing.T) {
	e := blobs(4, 12, 5, 0, 0.5)
	tr := newTestTrainer(t, small(), e)
	for range 3 {
		must.Get(tr.Epoch(context.Background()))(t)
	}
	s := state(t, tr)
	other := small()
	other.Rate = 0.03
	if err := newTestTrainer(t, other, e).Restore(s); err == nil || !strings.Contains(err.Error(), "other settings") {
		t.Error(err)
	}
	if err := newTestTrainer(t, small(), blobs(4, 13, 5, 0, 0.5)).Restore(s); err == nil ||
		!strings.Contains(err.Error(), "other examples") {
		t.Error(err)
	}
	for name := range s.Tensors {
		damaged := classifier.State{Settings: s.Settings, Tensors: map[string]classifier.Tensor{}}
		for n, v := range s.Tensors {
			damaged.Tensors[n] = v
		}
		delete(damaged.Tensors, name)
		if newTestTrainer(t, small(), e).Restore(damaged) == nil {
			t.Errorf("without %s: restored", name)
		}
	}
	var c map[string]any
	must.Do(t, json.Unmarshal(s.Settings, &c))
	for key, value := range map[string]any{"tree": []int{-1, 0, 1}, "inducing": []int{1 << 40, 1, 1, 1},
		"history": []any{}, "best": map[string]any{"epoch": 99}} {
		old := c[key]
		c[key] = value
		text := must.Get(json.Marshal(c))(t)
		if newTestTrainer(t, small(), e).Restore(classifier.State{Settings: text, Tensors: s.Tensors}) == nil {
			t.Errorf("%s = %v: restored", key, value)
		}
		c[key] = old
	}
}

func FuzzRestore(f *testing.F) {
	e := blobs(3, 6, 3, 0, 0.5)
	tr := newTestTrainer(f, small(), e)
	for range 3 {
		must.Get(tr.Epoch(context.Background()))(f)
	}
	s := state(f, tr)
	f.Add(s.Settings)
	f.Fuzz(func(t *testing.T, settings []byte) {
		tr := newTestTrainer(t, small(), e)
		if tr.Restore(classifier.State{Settings: settings, Tensors: s.Tensors}) != nil || tr.Done() {
			return
		}
		_, _ = tr.Epoch(context.Background())
	})
}

// Small data is well defined: one class, one example per class, duplicates,
// constant and zero embeddings.
func TestLittleData(t *testing.T) {
	one := blobs(1, 5, 4, 0, 1)
	tr := newTestTrainer(t, small(), one)
	if p := tr.Trained(); !tr.Done() || p.Start != nil || p.Projection == nil {
		t.Errorf("one class: %+v", p)
	}
	for name, e := range map[string]Examples{
		"one example a class": blobs(3, 1, 4, 0, 1), "constant": constant(1), "zero": constant(0),
	} {
		cfg := small()
		cfg.Validation = 0
		tr := newTestTrainer(t, cfg, e)
		finish(t, tr)
		for _, v := range tr.Trained().Projection.theta {
			if math.IsNaN(v) {
				t.Fatalf("%s: NaN", name)
			}
		}
	}
}

func constant(v float32) Examples {
	e := blobs(3, 4, 5, 0, 1)
	for i := range e.X.Data {
		e.X.Data[i] = v
	}
	return e
}

func TestEarlyStopping(t *testing.T) {
	cfg := small()
	cfg.Epochs, cfg.Pretrain, cfg.Patience = 60, 1, 3
	tr := newTestTrainer(t, cfg, blobs(3, 20, 4, 0, 0.1))
	finish(t, tr)
	if n := len(tr.History()); n >= 60 || n != tr.best.Epoch+3 {
		t.Errorf("%d epochs, the best was %d", n, tr.best.Epoch)
	}
}

func TestTrainingStopsWhenAsked(t *testing.T) {
	tr := newTestTrainer(t, small(), blobs(3, 9, 4, 0, 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tr.Epoch(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDivergenceIsAnError(t *testing.T) {
	cfg := small()
	cfg.Rate = 1e6
	tr := newTestTrainer(t, cfg, blobs(4, 20, 4, 0, 1))
	var err error
	for !tr.Done() && err == nil {
		_, err = tr.Epoch(context.Background())
	}
	if err != nil && !strings.Contains(err.Error(), "lower the rate") {
		t.Error(err)
	}
}

func TestPresets(t *testing.T) {
	for name, want := range map[string]Training{
		PresetCUB: {Dim: 512, Epochs: 100, Pretrain: 20, Batch: 128, Rate: 0.01, WeightDecay: 1e-4,
			NaturalRate: 0.05, Inducing: 5},
		PresetMiniImageNet: {Dim: 512, Epochs: 100, Pretrain: 40, Batch: 128, Rate: 0.1, WeightDecay: 1e-4,
			NaturalRate: 0.05, Inducing: 5},
		PresetCIFAR: {Dim: 1024, Epochs: 200, Pretrain: 80, Batch: 256, Rate: 0.01, WeightDecay: 1e-4,
			NaturalRate: 0.05, Inducing: 40},
	} {
		cfg := DefaultTraining()
		cfg.Preset = name
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
		got := cfg.Resolved()
		want.Preset, want.Validation, want.Patience, want.Keep = name, got.Validation, got.Patience, KeepEvidence
		if got != want {
			t.Errorf("%s: %+v", name, got)
		}
		marks := []int{40, 60}
		if name == PresetCIFAR {
			marks = []int{100, 150}
		}
		if !slices.Equal(got.sgd().Milestones, marks) {
			t.Errorf("%s: %v", name, got.sgd().Milestones)
		}
	}
}

func TestTrainingMistakes(t *testing.T) {
	for want, change := range map[string]func(*Training){
		"preset: ":       func(c *Training) { c.Preset = "imagenet" },
		"epochs: ":       func(c *Training) { c.Epochs = -1 },
		"pretrain: ":     func(c *Training) { c.Pretrain = 101 },
		"batch: ":        func(c *Training) { c.Batch = -1 },
		"inducing: ":     func(c *Training) { c.Inducing = 1 << 20 },
		"anchor: ":       func(c *Training) { c.Anchor = math.NaN() },
		"natural_rate: ": func(c *Training) { c.NaturalRate = 1.5 },
		"validation: ":   func(c *Training) { c.Validation = 0.9 },
		"dim: ":          func(c *Training) { c.Dim = -1 },
		"rate: ":         func(c *Training) { c.Rate = -1 },
		"views: ":        func(c *Training) { c.Views = -1 },
		"patience: ":     func(c *Training) { c.Patience = -1 },
	} {
		cfg := DefaultTraining()
		if change(&cfg); cfg.Validate() == nil || !strings.HasPrefix(cfg.Validate().Error(), want) {
			t.Errorf("%s%v", want, cfg.Validate())
		}
	}
	e := blobs(2, 3, 4, 0, 1)
	e.X.Data[1] = float32(math.NaN())
	if _, err := NewTrainer(small(), gptree.DefaultConfig(), e, linalg.Backend{}); err == nil {
		t.Error("a NaN")
	}
	cfg := small()
	cfg.Views = 2
	if _, err := NewTrainer(cfg, gptree.DefaultConfig(), blobs(2, 3, 4, 1, 1), linalg.Backend{}); err == nil ||
		!strings.Contains(err.Error(), "views: ") {
		t.Error(err)
	}
}

// The softmax of phase 1 has the accuracy that its best epoch says.
func TestSoftmaxOfTheBestEpoch(t *testing.T) {
	cfg := small()
	cfg.Epochs, cfg.Pretrain = 5, 5
	tr := newTestTrainer(t, cfg, blobs(5, 20, 6, 0, 0.9))
	if _, err := tr.Softmax(); err == nil {
		t.Error("a softmax before the first epoch")
	}
	finish(t, tr)
	c := must.Get(tr.Softmax())(t)
	x := dense.Gather32(tr.data.examples.X, tr.data.held)
	p := must.Get(classifier.Predict(c, x, 0))(t)
	right := 0
	for i, r := range tr.data.held {
		if p[i].Label == tr.data.classes[tr.data.class[r]] {
			right++
		}
	}
	if want := *tr.History()[tr.Trained().Best-1].Accuracy; float64(right)/float64(len(p)) != want {
		t.Errorf("%d of %d, the epoch says %g", right, len(p), want)
	}
	both := newTestTrainer(t, small(), blobs(3, 10, 4, 0, 0.5))
	finish(t, both)
	if _, err := both.Softmax(); err == nil {
		t.Error("a softmax in phase 2")
	}
}

// TestOffset: a projection trained on embeddings with a large common offset tells
// classes apart as well as one trained without, and so does its saved copy.
func TestOffset(t *testing.T) {
	var accuracy []float64
	for _, offset := range []float32{0, 1e4} {
		e := blobs(4, 20, 6, 0, 0.3)
		for i := range e.X.Data {
			e.X.Data[i] += offset
		}
		tr := newTestTrainer(t, small(), e)
		must.Do(t, runEpochs(t.Context(), tr))
		h := tr.Trained().Projection
		z := must.Get(h.Project(e.X))(t)
		state := must.Get(h.Save())(t)
		back := must.Get(Load(state))(t)
		if again, err := back.Project(e.X); err != nil || !slices.Equal(again.Data, z.Data) {
			t.Errorf("offset %g: the saved projection differs, %v", offset, err)
		}
		last := tr.History()[len(tr.History())-1]
		accuracy = append(accuracy, *last.Accuracy)
	}
	if accuracy[1] < accuracy[0]-0.05 {
		t.Errorf("held-out accuracy %.2f with an offset, %.2f without", accuracy[1], accuracy[0])
	}
}

// With few examples an epoch passes over them several times: a single pass is a
// single step, after six of which the tree knows less than the embeddings did.
func TestStepsOfAnEpoch(t *testing.T) {
	after := func(steps int) float64 {
		cfg := DefaultTraining()
		cfg.Steps = steps
		tr := newTestTrainer(t, cfg, blobs(12, 5, 64, 0, 1))
		finish(t, tr)
		return *tr.History()[cfg.Resolved().Epochs-1].Accuracy
	}
	if single, many := after(0), after(FromPreset); single > 0.8 || many < 0.9 {
		t.Errorf("held-out accuracy %g with a step per epoch, %g with those of the preset", single, many)
	}
}
