package dkl_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func newSGD(t *testing.T, cfg dkl.SGDConfig, n int) *dkl.SGD {
	t.Helper()
	return must.Get(dkl.NewSGD(cfg, n))(t)
}

// The numbers follow from PyTorch's documented rule, with binary fractions
// that keep them exact.
func TestSGDExactSteps(t *testing.T) {
	s := newSGD(t, dkl.SGDConfig{Rate: 0.5, Momentum: 0.5, WeightDecay: 0.25, Milestones: []int{1}, Decay: 0.5}, 1)
	theta := []float64{4}
	for step, c := range []struct {
		gradient float64
		epoch    int
		want     float64
	}{
		{1, 0, 3},                 // g = 1 + 1, v = 2, rate 1/2
		{0.25, 0, 2},              // g = 0.25 + 0.75, v = 2
		{-0.5, 1, 1.75},           // g = −0.5 + 0.5, v = 1, rate 1/4
		{-0.9375, 2, 1.75},        // g = −0.9375 + 0.4375 = −0.5, v = 0
		{-0.4375, 2, 1.75},        // g = 0
		{0.0625, 7, 1.75 - 0.125}, // g = 0.5
	} {
		if err := s.Step(theta, []float64{c.gradient}, c.epoch); err != nil || theta[0] != c.want {
			t.Fatalf("step %d: θ = %g, want %g; %v", step, theta[0], c.want, err)
		}
	}
}

func TestSGDRefuses(t *testing.T) {
	nan := math.NaN()
	for _, cfg := range []dkl.SGDConfig{
		{}, {Rate: -1}, {Rate: nan}, {Rate: math.Inf(1)},
		{Rate: 1, Momentum: 1}, {Rate: 1, Momentum: -0.1}, {Rate: 1, Momentum: nan},
		{Rate: 1, WeightDecay: -1}, {Rate: 1, WeightDecay: nan},
		{Rate: 1, Milestones: []int{3, 2}, Decay: 0.1}, {Rate: 1, Milestones: []int{-1}, Decay: 0.1},
		{Rate: 1, Milestones: []int{1}}, {Rate: 1, Milestones: []int{1}, Decay: 2},
		{Rate: 1, Milestones: []int{1}, Decay: nan},
		{Rate: 1, Milestones: make([]int, 2000), Decay: 0.1},
	} {
		if cfg.Validate() == nil {
			t.Errorf("%+v is valid", cfg)
		}
		if _, err := dkl.NewSGD(cfg, 1); err == nil {
			t.Errorf("%+v: an optimiser", cfg)
		}
	}
	if _, err := dkl.NewSGD(dkl.SGDConfig{Rate: 1}, 0); err == nil {
		t.Error("no parameters")
	}
	s := newSGD(t, dkl.SGDConfig{Rate: 1, Momentum: 0.5}, 2)
	theta := []float64{1, 2}
	for name, err := range map[string]error{
		"NaN":       s.Step(theta, []float64{1, nan}, 0),
		"infinity":  s.Step(theta, []float64{math.Inf(-1), 0}, 0),
		"gradients": s.Step(theta, []float64{1}, 0),
		"θ":         s.Step(theta[:1], []float64{1, 1}, 0),
	} {
		if err == nil || !slices.Equal(theta, []float64{1, 2}) {
			t.Errorf("%s: %v, θ = %v", name, err, theta)
		}
	}
	if err := s.Step(theta, []float64{1, 0}, 0); err != nil || !slices.Equal(theta, []float64{0, 2}) {
		t.Errorf("a refused step left a trace: θ = %v, %v", theta, err)
	}
}

// The optimiser keeps its own copy of the schedule.
func TestSGDConfigIsCopied(t *testing.T) {
	milestones := []int{5}
	s := newSGD(t, dkl.SGDConfig{Rate: 1, Milestones: milestones, Decay: 0.5}, 1)
	milestones[0] = 0
	theta := []float64{0}
	if err := s.Step(theta, []float64{1}, 0); err != nil || theta[0] != -1 {
		t.Errorf("θ = %v, %v", theta, err)
	}
}

// A trainer is phase 1 with both its optimisers.
type trainer struct {
	*problem
	sgdHead, sgdSoftmax *dkl.SGD
}

func newTrainer(t *testing.T) *trainer {
	t.Helper()
	cfg := dkl.SGDConfig{Rate: 0.1, Momentum: 0.9, WeightDecay: 1e-4, Milestones: []int{40, 60}, Decay: 0.1}
	p := newProblem(t, variant{70, dkl.Config{Dim: 200, Hidden: 65, Residual: true, Seed: 3}}, 150, 7)
	return &trainer{p, newSGD(t, cfg, len(p.gradHead)), newSGD(t, cfg, len(p.gradSoftmax))}
}

func (tr *trainer) train(t *testing.T, first, last int) {
	t.Helper()
	for epoch := first; epoch < last; epoch++ {
		tr.loss(t)
		must.Do(t, errors.Join(
			tr.sgdHead.Step(tr.head.Theta(), tr.gradHead, epoch),
			tr.sgdSoftmax.Step(tr.softmax.Theta(), tr.gradSoftmax, epoch)))
	}
}

func TestTrainingDoesNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := newTrainer(t)
	one.train(t, 0, 4)
	runtime.GOMAXPROCS(8)
	eight := newTrainer(t)
	eight.train(t, 0, 4)
	if !slices.Equal(one.head.Theta(), eight.head.Theta()) ||
		!slices.Equal(one.softmax.Theta(), eight.softmax.Theta()) {
		t.Error("eight threads train another head than one")
	}
}
