package hierarchy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/experiment/hierarchy"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

func small() hierarchy.Config {
	c := hierarchy.DefaultConfig()
	c.Synthetic = hierarchy.Synthetic{K: 30, Groups: 5, Dim: 24, Train: 8, Test: 4, Noise: 0.4}
	c.Runs, c.T, c.S, c.R, c.Q, c.Levels = 1, []int{1, 5}, []int{3, 5}, []int{0, 2}, []int{0, 3}, []int{3}
	return c
}

func env(t *testing.T) experiment.Env {
	s := experiment.Env{Dir: t.TempDir(), Seed: 1, Heads: method.DefaultConfig()}
	s.Heads = method.Change(s.Heads, "hppca", func(c *hppca.Config) { c.Q, c.R, c.S = 3, 3, 5 })
	return s
}

// TestRun: every table exists, visiting everything equals the flat head, and
// density matches the visits.
func TestRun(t *testing.T) {
	o, cells := experimenttest.Run(t, small(), env(t))
	var names []string
	for _, table := range o.Tables {
		names = append(names, table.Name)
	}
	if want := []string{"by_t", "by_s", "by_levels", "by_r", "by_q"}; !slices.Equal(names, want) {
		t.Errorf("tables %v, want %v", names, want)
	}
	if heads := cells.Where(grid.At("method", "flat")); len(heads) != 2 ||
		o.Lead != "30 classes, 240 training and 120 test examples." {
		t.Errorf("%+v, %s", heads, o.Lead)
	}
	flat := cells[0].Values["accuracy"][0]
	if flat < 0.6 {
		t.Errorf("flat accuracy %g", flat)
	}
	for _, c := range cells {
		if c.At["method"] == "flat" {
			continue
		}
		m := func(name string) float64 { return c.Values[name][0] }
		switch at := c.At; {
		case at["T"] == "5" && at["levels"] == "2" && at["q"] == "3" && (math.Abs(m("accuracy")-flat) > 1e-12 ||
			math.Abs(m("density")-(30+m("super_classes"))/30) > 1e-9 || math.Abs(m("super_accuracy")-1) > 1e-9):
			t.Errorf("all visited: %+v, flat %g", c, flat)
		case at["T"] == "1" && !(m("density") < 0.8 && m("speed_up") > 1.2 && m("clock_speed_up") > 0):
			t.Errorf("one visited: %+v", c)
		case m("fit_seconds") <= 0:
			t.Errorf("made in no time: %+v", c)
		case m("accuracy") > m("super_accuracy")+1e-9:
			t.Errorf("right in the wrong super-class: %+v", c)
		}
	}
}

func TestRunOnFeatures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "features")
	w := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: 12}))(t)
	train, test := hierarchy.Synthetic{K: 9, Groups: 3, Dim: 12, Train: 6, Test: 3, Noise: 0.4}.Draw(1)
	for part, s := range map[string]experiment.Labelled{"train": train, "test": test} {
		for i, y := range s.Y {
			if part == "train" && y == "class00008" && i%2 == 0 {
				continue // too few to take part
			}
			sample := dataset.Sample{Path: fmt.Sprintf("%s/%s/%d", part, y, i), Label: y}
			if part == "train" { // the path tells of the others
				sample.Path, sample.Split = fmt.Sprint(i), part
			}
			must.Do(t, w.Write(sample, dense.Row32(s.X, i)))
		}
	}
	must.Do(t, w.Close())
	c, s := hierarchy.DefaultConfig(), env(t)
	c.MinTrain, c.MaxTest, c.T, c.Variants = 5, 20, []int{2}, []string{hierarchy.Gaussians}
	s.Features = dir
	if o, cells := experimenttest.Run(t, c, s); len(cells) != 2 ||
		o.Lead != "8 classes, 48 training and 20 test examples." {
		t.Errorf("%s %+v", o.Lead, cells)
	}
	experimenttest.Explains(t, func() hierarchy.Config { return c }, func() experiment.Env { return s },
		map[string]func(*hierarchy.Config, *experiment.Env){
			"no class has":  func(c *hierarchy.Config, _ *experiment.Env) { c.MinTrain = 50 },
			"no embeddings": func(_ *hierarchy.Config, s *experiment.Env) { s.Features = "" },
		})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := small().Run(ctx, env(t)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	experimenttest.Names(t, hierarchy.DefaultConfig, map[string]func(*hierarchy.Config){
		"synthetic.k":   func(c *hierarchy.Config) { c.Synthetic.K = -1 },
		"synthetic.dim": func(c *hierarchy.Config) { c.Synthetic = hierarchy.Synthetic{K: 3} },
		"min_train":     func(c *hierarchy.Config) { c.MinTrain = 0 }, "runs": func(c *hierarchy.Config) { c.Runs = 0 },
		"max_test": func(c *hierarchy.Config) { c.MaxTest = -1 },
		"s":        func(c *hierarchy.Config) { c.S = []int{0} }, "t": func(c *hierarchy.Config) { c.T = nil },
		"q": func(c *hierarchy.Config) { c.Q = []int{2, 2} },
		"r": func(c *hierarchy.Config) { c.R = []int{-1} }, "levels": func(c *hierarchy.Config) { c.Levels = []int{1} },
		"variants": func(c *hierarchy.Config) { c.Variants = []string{"means"} },
	})
}
