package hierarchy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/hierarchy"
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

func run(t *testing.T, c hierarchy.Config, s experiment.Env) (hierarchy.Results, experiment.Outcome) {
	t.Helper()
	o, err := hierarchy.Run(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	return o.Results.(hierarchy.Results), o
}

// TestRun: every table exists, visiting everything equals the flat head,
// density matches the visits, and a second run reads the parts of the first.
func TestRun(t *testing.T) {
	s := env(t)
	r, o := run(t, small(), s)
	var names []string
	for _, table := range o.Tables {
		names = append(names, table.Name)
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("%s: row %v for header %v", table.Name, row, table.Header)
			}
		}
	}
	if want := []string{"by_t", "by_s", "by_levels", "by_r", "by_q"}; !slices.Equal(names, want) {
		t.Errorf("tables %v, want %v", names, want)
	}
	if r.Classes != 30 || r.Train != 240 || r.Test != 120 || len(r.Flat) != 2 || len(o.Findings) != 3 {
		t.Errorf("%+v, %v", r, o.Findings)
	}
	flat := r.Flat[0].Accuracy
	if flat < 0.6 {
		t.Errorf("flat accuracy %g", flat)
	}
	for _, m := range r.Cells {
		switch {
		case m.T == 5 && m.Levels == 2 && m.Q == 3 && (math.Abs(m.Accuracy-flat) > 1e-12 ||
			math.Abs(m.Density-(30+m.Supers)/30) > 1e-9 || math.Abs(m.SuperAccuracy-1) > 1e-9):
			t.Errorf("all visited: %+v, flat %g", m, flat)
		case m.T == 1 && !(m.Density < 0.8 && m.SpeedUp > 1.2 && m.ClockSpeedUp > 0):
			t.Errorf("one visited: %+v", m)
		case m.FitSeconds <= 0:
			t.Errorf("made in no time: %+v", m)
		case m.Accuracy > m.SuperAccuracy+1e-9:
			t.Errorf("right in the wrong super-class: %+v", m)
		}
	}
	again, _ := run(t, small(), s)
	if fmt.Sprint(again) != fmt.Sprint(r) {
		t.Error("what was measured was measured again")
	}
	if err := o.Write(t.TempDir(), nil); err != nil {
		t.Error(err)
	}
}

func TestRunOnFeatures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "features")
	w, err := featdir.NewWriter(dir, embed.Provenance{Dim: 12})
	if err != nil {
		t.Fatal(err)
	}
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
			if err := w.Write(sample, dense.Row32(s.X, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, s := hierarchy.DefaultConfig(), env(t)
	c.MinTrain, c.MaxTest, c.T, c.Variants = 5, 20, []int{2}, []string{hierarchy.Gaussians}
	s.Features = dir
	if r, _ := run(t, c, s); r.Classes != 8 || r.Train != 48 || r.Test != 20 || len(r.Cells) != 1 {
		t.Errorf("%+v", r)
	}
	c.MinTrain = 50
	var input *experiment.InputError
	if _, err := hierarchy.Run(context.Background(), c, s); !errors.As(err, &input) {
		t.Errorf("no class left: %v", err)
	}
	s.Features = ""
	if _, err := hierarchy.Run(context.Background(), c, s); !errors.As(err, &input) {
		t.Errorf("no data: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := hierarchy.Run(ctx, small(), env(t)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*hierarchy.Config){
		"synthetic.k":   func(c *hierarchy.Config) { c.Synthetic.K = -1 },
		"synthetic.dim": func(c *hierarchy.Config) { c.Synthetic = hierarchy.Synthetic{K: 3} },
		"min_train":     func(c *hierarchy.Config) { c.MinTrain = 0 }, "runs": func(c *hierarchy.Config) { c.Runs = 0 },
		"max_test": func(c *hierarchy.Config) { c.MaxTest = -1 },
		"s":        func(c *hierarchy.Config) { c.S = []int{0} }, "t": func(c *hierarchy.Config) { c.T = nil },
		"q": func(c *hierarchy.Config) { c.Q = []int{2, 2} },
		"r": func(c *hierarchy.Config) { c.R = []int{-1} }, "levels": func(c *hierarchy.Config) { c.Levels = []int{1} },
		"variants": func(c *hierarchy.Config) { c.Variants = []string{"means"} },
	} {
		c := hierarchy.DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := hierarchy.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}
