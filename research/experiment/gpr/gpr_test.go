package gpr

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	head "github.com/seed-90d10d51/pipeline/classifier/gpr"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

// bench returns two sessions of three overlapping classes, with 30 training and
// 10 test images each.
func bench(t *testing.T) *fscil.Bench {
	t.Helper()
	return experimenttest.Bench(t, 6, 8, func(k int) experimenttest.Class {
		return experimenttest.Class{Session: k / 3, Train: 30, Test: 10,
			Draw: experimenttest.Around(rand.New(rand.NewPCG(1, uint64(k))), 8, 0.8)}
	})
}

func env(t *testing.T) experiment.Env { return experimenttest.Env(t, bench(t)) }

func small() Config {
	return Config{
		Grid: 9, N: []int{20, 70}, K: []int{1, 40}, Repeats: 1, Classes: 5, TestPerClass: 8, Runs: 2,
		Examples: 6, Start: 2, Step: 5, Steps: 3,
	}
}

func TestFigures(t *testing.T) {
	o, cells := experimenttest.Run(t, small(), env(t))
	timings := cells.Axis("update")
	if len(timings) != 4 || len(o.Tables) != 4 || len(o.Figures) != 5 || len(o.Tables[1].Rows) != 4 {
		t.Fatalf("updates %v, %d tables, %d figures", timings, len(o.Tables), len(o.Figures))
	}
	var draws int // in which the runs differ
	for _, c := range cells {
		for name, values := range c.Values {
			switch {
			case name == "seconds" && !(values[0] > 0):
				t.Errorf("%v takes %v", c.At, values)
			case name == "off_nats" && slices.Max(values) > 1e-8:
				t.Errorf("%v: step by step differs by %v from learning in one session", c.At, values)
			case name == "accuracy" && len(values) != 2:
				t.Errorf("%v: %d runs", c.At, len(values))
			case name == "accuracy" && values[0] != values[1]:
				draws++
			}
		}
	}
	if draws == 0 {
		t.Error("two runs drew the same")
	}
	for _, head := range []string{"gpr", "ncm"} {
		for x, steps := range map[string]int{"classes known": 5, "examples per class": 4} {
			at := cells.Where(grid.At("head", head)).Axis(x)
			first := cells.Values(grid.At("head", head, x, at[0]), "accuracy")
			last := cells.Values(grid.At("head", head, x, at[len(at)-1]), "accuracy")
			if len(at) != steps || last[0] <= first[0] || last[1] <= first[1] {
				t.Errorf("%s by %s %v: from %v to %v", head, x, at, first, last)
			}
		}
	}
	if one := cells.Values(grid.At("head", "gpr", "classes known", 1), "accuracy")[0]; one > 0.2 {
		t.Errorf("accuracy on five classes with one known is %g", one)
	}
}

// TestParts: figures can be left out.
func TestParts(t *testing.T) {
	c := small()
	c.N = nil
	if o, _ := experimenttest.Run(t, c, env(t)); len(o.Figures) != 3 {
		t.Errorf("%d figures", len(o.Figures))
	}
	c = small()
	c.Classes = 0
	if o, cells := experimenttest.Run(t, c, env(t)); len(o.Figures) != 3 || cells.Axis("head") != nil {
		t.Errorf("%d figures", len(o.Figures))
	}
}

// TestToy: Fig. 1 needs no features; what an old class and a new one gain shows
// in the scores at their clusters, and the updates equal a batch fit.
func TestToy(t *testing.T) {
	for _, update := range []engine.Method{engine.Cholesky, engine.Direct} {
		c, e := small(), env(t)
		c.N, c.Classes, e.Features = nil, 0, ""
		e.Heads = method.Change(e.Heads, "gpr", func(c *head.Config) { c.Update = update })
		if o, _ := experimenttest.Run(t, c, e); len(o.Figures) != 1 {
			t.Fatalf("%d figures", len(o.Figures))
		}
		s := must.Get(c.toy(context.Background(), e))(t)
		const left, right = 2*9 + 2, 2*9 + 6 // (−1, −1) and (1, −1) on the grid of 9×9
		switch {
		case len(s) != 3 || len(s[1].scores) != 2 || len(s[2].scores) != 3:
			t.Errorf("%d steps", len(s))
		case s[0].scores[0][left] > 0.1 || s[1].scores[0][left] < 0.8 ||
			s[1].variance[left] > 0.1*s[0].variance[left]:
			t.Errorf("class 1 at its second cluster: %g, then %g", s[0].scores[0][left], s[1].scores[0][left])
		case s[2].scores[2][right] < 0.8 || s[2].scores[2][left] > -0.8:
			t.Errorf("class 3: %g, elsewhere %g", s[2].scores[2][right], s[2].scores[2][left])
		}
		for i, step := range s {
			if step.off > 1e-8 || len(step.examples) != len(step.classes) {
				t.Errorf("step %d: differs by %g from a batch fit", i+1, step.off)
			}
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	experimenttest.Explains(t, small, func() experiment.Env { return env(t) },
		map[string]func(*Config, *experiment.Env){
			"--features":          func(_ *Config, s *experiment.Env) { s.Features = "" },
			"180 training images": func(c *Config, _ *experiment.Env) { c.K = []int{200} },
			"6 classes have 26":   func(c *Config, _ *experiment.Env) { c.Classes, c.Examples = 7, 26 },
			"0 classes have 31":   func(c *Config, _ *experiment.Env) { c.Examples = 31 },
			"classifier.gpr.length": func(_ *Config, s *experiment.Env) {
				s.Heads = method.Change(s.Heads, "gpr", func(c *head.Config) { c.Noise = head.Auto })
			},
		})
	experimenttest.Names(t, DefaultConfig, map[string]func(*Config){
		"grid":    func(c *Config) { c.Grid = 1 },
		"n":       func(c *Config) { c.N = []int{0} },
		"k":       func(c *Config) { c.K = nil },
		"repeats": func(c *Config) { c.Repeats = 0 },
		"classes": func(c *Config) { c.Classes = 1 },
		"steps":   func(c *Config) { c.Steps = -1 },
	})
}
