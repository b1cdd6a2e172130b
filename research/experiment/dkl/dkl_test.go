package dkl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/dkl"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/fscil"
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

func run(t *testing.T, c dkl.Config, dir string) (experiment.Outcome, []byte) {
	t.Helper()
	s := experimenttest.Env(t, bench(t))
	s.Dir, s.Seed, s.Backend = dir, 0, linalg.Default()
	o, err := dkl.Run(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o.Results)
	if err != nil {
		t.Fatal(err)
	}
	return o, text
}

// Every cell exists, and a second run in the same folder gives the same
// results, with and without the parts of the first.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	o, first := run(t, small(), dir)
	r := o.Results.(dkl.Results)
	if len(r.Base) != 4 || len(r.Sessions) != 4 || len(r.Choice.Scores) != 3 || len(r.Base[0].Accuracy) != 1 {
		t.Fatalf("%+v", r)
	}
	for _, q := range r.Base {
		if q.Accuracy[0] < 0.6 || q.NLL[0] <= 0 {
			t.Errorf("%+v", q)
		}
	}
	if r.Choice.Setting == "none" || r.Sessions[1].Runs[0].Sessions[1].Novel == nil || !r.Sessions[1].Projection ||
		r.Sessions[0].Projection {
		t.Errorf("%+v", r.Choice)
	}
	if len(o.Tables) != 3 || len(o.Tables[0].Rows) != 4 || len(o.Tables[1].Rows) != 4 || len(o.Tables[2].Rows) != 3 ||
		len(o.Findings) != 5 {
		t.Errorf("%d findings, tables %+v", len(o.Findings), o.Tables)
	}
	if _, again := run(t, small(), dir); !bytes.Equal(first, again) {
		t.Error("parts give another result")
	}
	if err := os.RemoveAll(filepath.Join(dir, "parts")); err != nil {
		t.Fatal(err)
	}
	if _, again := run(t, small(), dir); !bytes.Equal(first, again) {
		t.Error("a run from the beginning gives another result")
	}
}

func TestMistakes(t *testing.T) {
	if err := dkl.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*dkl.Config){
		`candidates: "rat=1": rat: there is no such`: func(c *dkl.Config) { c.Candidates = []string{"rat=1"} },
		`candidates: "rate"`:                         func(c *dkl.Config) { c.Candidates = []string{"rate"} },
		"rate: -1":                                   func(c *dkl.Config) { c.Candidates = []string{"rate=-1"} },
		"candidates: is empty":                       func(c *dkl.Config) { c.Candidates = nil },
		"occurs twice":                               func(c *dkl.Config) { c.Candidates = []string{"dim=3", "dim=3"} },
		"methods: unknown":                           func(c *dkl.Config) { c.Methods = []string{"gptee"} },
		"choose_by: is empty":                        func(c *dkl.Config) { c.ChooseBy = nil },
		"seeds: 0":                                   func(c *dkl.Config) { c.Seeds = 0 },
	} {
		c := dkl.DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := small()
	c.HeldOut = 30
	s := experimenttest.Env(t, bench(t))
	s.Backend = linalg.Default()
	_, err := dkl.Run(context.Background(), c, s)
	if err == nil || !strings.Contains(err.Error(), "held_out") {
		t.Error(err)
	}
	if _, err := dkl.Run(context.Background(), small(), experiment.Env{}); err == nil ||
		!strings.Contains(err.Error(), "--features") {
		t.Error(err)
	}
}
