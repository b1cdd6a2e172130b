package gpr_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	head "github.com/seed-90d10d51/pipeline/classifier/gpr"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/experiment/gpr"
	"github.com/seed-90d10d51/pipeline/research/fscil"
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

func small() gpr.Config {
	return gpr.Config{
		Grid: 9, N: []int{20, 70}, K: []int{1, 40}, Repeats: 1, Classes: 5, TestPerClass: 8, Runs: 2,
		Examples: 6, Start: 2, Step: 5, Steps: 3,
	}
}

func TestFigures(t *testing.T) {
	s := env(t)
	o, err := gpr.Run(context.Background(), small(), s)
	if err != nil {
		t.Fatal(err)
	}
	r := o.Results.(gpr.Results)
	if len(r.Timings) != 4 || len(o.Tables) != 4 || len(o.Figures) != 5 || len(o.Tables[1].Rows) != 4 {
		t.Fatalf("%d timings, %d tables, %d figures", len(r.Timings), len(o.Tables), len(o.Figures))
	}
	for _, m := range r.Timings {
		if !(m.Batch > 0 && m.Iterative > 0 && m.Direct > 0 && m.Cholesky > 0) {
			t.Errorf("%+v", m)
		}
	}
	for i, a := range []*gpr.Accuracies{r.Classes, r.Examples} {
		steps := []int{5, 4}[i]
		for _, c := range []gpr.Curve{a.GPR, a.NCM} {
			if len(c) != 2 || len(c[0]) != steps || len(c[1]) != steps || c[0][steps-1] <= c[0][0] ||
				c[1][steps-1] <= c[1][0] {
				t.Errorf("figure %d: %v", i+3, c)
			}
		}
		if a.Off > 1e-8 {
			t.Errorf("figure %d: step by step differs by %g from learning in one session", i+3, a.Off)
		}
	}
	if one := r.Classes.GPR[0][0]; one > 0.2 {
		t.Errorf("accuracy on five classes with one known is %g", one)
	}
	if reflect.DeepEqual(r.Classes.GPR[0], r.Classes.GPR[1]) &&
		reflect.DeepEqual(r.Examples.GPR[0], r.Examples.GPR[1]) {
		t.Error("two runs drew the same")
	}
	if err := o.Write(t.TempDir(), nil); err != nil {
		t.Error(err)
	}
	again, err := gpr.Run(context.Background(), small(), s)
	if err != nil || !reflect.DeepEqual(again.Results, o.Results) {
		t.Errorf("what was finished was measured again, %v", err)
	}
	fresh := env(t)
	repeated, err := gpr.Run(context.Background(), small(), fresh)
	if err != nil || !reflect.DeepEqual(repeated.Results.(gpr.Results).Classes, r.Classes) {
		t.Errorf("the same seed gives other accuracies, %v", err)
	}
}

// TestParts: figures can be left out.
func TestParts(t *testing.T) {
	c := small()
	c.N = nil
	o, err := gpr.Run(context.Background(), c, env(t))
	if err != nil || len(o.Figures) != 3 {
		t.Errorf("%d figures, %v", len(o.Figures), err)
	}
	c = small()
	c.Classes = 0
	o, err = gpr.Run(context.Background(), c, env(t))
	if err != nil || len(o.Figures) != 3 || o.Results.(gpr.Results).Classes != nil {
		t.Errorf("%d figures, %v", len(o.Figures), err)
	}
}

// TestToy: Fig. 1 needs no features; what an old class and a new one gain shows
// in the scores at their clusters, and the updates equal a batch fit.
func TestToy(t *testing.T) {
	for _, update := range []engine.Method{engine.Cholesky, engine.Direct} {
		c, s := small(), env(t)
		c.N, c.Classes, s.Features = nil, 0, ""
		s.Heads = method.Change(s.Heads, "gpr", func(c *head.Config) { c.Update = update })
		o, err := gpr.Run(context.Background(), c, s)
		if err != nil || len(o.Figures) != 1 {
			t.Fatalf("%d figures, %v", len(o.Figures), err)
		}
		steps := o.Results.(gpr.Results).Toy.Steps
		const left, right = 2*9 + 2, 2*9 + 6 // (−1, −1) and (1, −1) on the grid of 9×9
		switch s := steps; {
		case len(s) != 3 || len(s[1].Scores) != 2 || len(s[2].Scores) != 3:
			t.Errorf("%d steps", len(s))
		case s[0].Scores[0][left] > 0.1 || s[1].Scores[0][left] < 0.8 || s[1].Var[left] > 0.1*s[0].Var[left]:
			t.Errorf("class 1 at its second cluster: %g, then %g", s[0].Scores[0][left], s[1].Scores[0][left])
		case s[2].Scores[2][right] < 0.8 || s[2].Scores[2][left] > -0.8:
			t.Errorf("class 3: %g, elsewhere %g", s[2].Scores[2][right], s[2].Scores[2][left])
		}
		for i, step := range steps {
			if step.Off > 1e-8 || len(step.Examples) != len(step.Classes) {
				t.Errorf("step %d: differs by %g from a batch fit", i+1, step.Off)
			}
		}
		if err := o.Write(t.TempDir(), nil); err != nil {
			t.Error(err)
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	for want, change := range map[string]func(*gpr.Config, *experiment.Env){
		"--features":          func(_ *gpr.Config, s *experiment.Env) { s.Features = "" },
		"180 training images": func(c *gpr.Config, _ *experiment.Env) { c.K = []int{200} },
		"6 classes have 26":   func(c *gpr.Config, _ *experiment.Env) { c.Classes, c.Examples = 7, 26 },
		"0 classes have 31":   func(c *gpr.Config, _ *experiment.Env) { c.Examples = 31 },
		"classifier.gpr.length": func(_ *gpr.Config, s *experiment.Env) {
			s.Heads = method.Change(s.Heads, "gpr", func(c *head.Config) { c.Noise = head.Auto })
		},
	} {
		c, s := small(), env(t)
		change(&c, &s)
		var input *experiment.InputError
		if _, err := gpr.Run(context.Background(), c, s); !errors.As(err, &input) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for field, change := range map[string]func(*gpr.Config){
		"grid":    func(c *gpr.Config) { c.Grid = 1 },
		"n":       func(c *gpr.Config) { c.N = []int{0} },
		"k":       func(c *gpr.Config) { c.K = nil },
		"repeats": func(c *gpr.Config) { c.Repeats = 0 },
		"classes": func(c *gpr.Config) { c.Classes = 1 },
		"steps":   func(c *gpr.Config) { c.Steps = -1 },
	} {
		c := gpr.DefaultConfig()
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}
