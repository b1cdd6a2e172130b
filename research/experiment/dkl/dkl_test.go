package dkl_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/dkl"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

// bench returns a session of six classes and one of two more with 5 shots.
func bench(t *testing.T) *fscil.Bench {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	return experimenttest.Bench(t, 8, 8, func(k int) experimenttest.Class {
		c := experimenttest.Class{Train: 30, Test: 10, Draw: experimenttest.Around(rng, 8, 0.6)}
		if k >= 6 {
			c.Session, c.Train = 1, 5
		}
		return c
	})
}

func small() dkl.Config {
	c := dkl.DefaultConfig()
	c.Candidates = []string{"epochs=3 pretrain=1 steps=0 batch=32 inducing=2", "epochs=2 pretrain=2 steps=0 batch=32"}
	c.Methods, c.HeldOut, c.Seeds, c.Splits = []string{"gptree", "ncm"}, 6, 1, 1
	return c
}

// TestRun: every cell exists, and a run from the beginning gives the same as the first.
func TestRun(t *testing.T) {
	s := experimenttest.Env(t, bench(t))
	s.Seed, s.Backend = 0, linalg.Backend{}
	o, cells := experimenttest.Run(t, small(), s)
	base := cells.Axis("classifier")
	if len(base) != 4 || len(cells.Axis("method")) != 4 || len(cells.Axis("setting")) != 3 {
		t.Fatalf("%+v", cells)
	}
	for _, c := range base {
		at := grid.At("classifier", c)
		if cells.Values(at, "accuracy")[0] < 0.6 || cells.Values(at, "nll")[0] <= 0 {
			t.Errorf("%s: %+v", c, cells.Where(at))
		}
	}
	if cells.Values(grid.At("method", "gptree with dkl"), "novel_accuracy") == nil {
		t.Errorf("%v", cells.Axis("method"))
	}
	if len(o.Tables) != 3 || len(o.Tables[0].Rows) != 4 || len(o.Tables[1].Rows) != 4 || len(o.Tables[2].Rows) != 3 {
		t.Errorf("tables %+v", o.Tables)
	}
	must.Do(t, os.RemoveAll(filepath.Join(s.Dir, "parts")))
	if _, again := experimenttest.Run(t, small(), s); !reflect.DeepEqual(again, cells) {
		t.Error("a run from the beginning gives another result")
	}
}

func TestMistakes(t *testing.T) {
	experimenttest.Names(t, dkl.DefaultConfig, map[string]func(*dkl.Config){
		`candidates: "rat=1": rat: there is no such`: func(c *dkl.Config) { c.Candidates = []string{"rat=1"} },
		`candidates: "rate"`:                         func(c *dkl.Config) { c.Candidates = []string{"rate"} },
		`candidates: "rate=-1": rate: -1`:            func(c *dkl.Config) { c.Candidates = []string{"rate=-1"} },
		"candidates: is empty":                       func(c *dkl.Config) { c.Candidates = nil },
		`candidates: "dim=3" occurs twice`:           func(c *dkl.Config) { c.Candidates = []string{"dim=3", "dim=3"} },
		"methods: unknown":                           func(c *dkl.Config) { c.Methods = []string{"gptee"} },
		"choose_by: is empty":                        func(c *dkl.Config) { c.ChooseBy = nil },
		"seeds: 0":                                   func(c *dkl.Config) { c.Seeds = 0 },
	})
	b := bench(t)
	experimenttest.Explains(t, small, func() experiment.Env {
		s := experimenttest.Env(t, b)
		s.Backend = linalg.Backend{}
		return s
	}, map[string]func(*dkl.Config, *experiment.Env){
		"held_out":   func(c *dkl.Config, _ *experiment.Env) { c.HeldOut = 30 },
		"--features": func(_ *dkl.Config, s *experiment.Env) { s.Features = "" },
	})
}
