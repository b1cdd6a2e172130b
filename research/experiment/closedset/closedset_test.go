package closedset_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/closedset"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// bench returns one session of eight overlapping classes, with 12 training and
// 10 held-out images each.
func bench(t *testing.T) *fscil.Bench {
	t.Helper()
	return experimenttest.Bench(t, 8, 6, func(k int) experimenttest.Class {
		return experimenttest.Class{Train: 12, Test: 10,
			Draw: experimenttest.Around(rand.New(rand.NewPCG(1, uint64(k))), 6, 0.4)}
	})
}

func env(t *testing.T) experiment.Env { return experimenttest.Env(t, bench(t)) }

func small() closedset.Config {
	return closedset.Config{
		Classes: []int{3, 5, 8}, PerClass: 6, HeldOut: 8, Runs: 3, GridRuns: 2, GridMost: 5,
		Published: "achituve_table1",
		Rows: []closedset.Row{
			{Name: "tree", Classifier: "gptree", Set: map[string]any{"mean": "zero", "base": "gibbs", "chains": 2},
				Grid: map[string][]any{"kernel": {"linear", "rbf"}, "gibbs_outputscale": {1e-6, 4}}},
			{Name: "means", Classifier: "ncm"},
			{Name: "few", Classifier: "ove",
				Set: map[string]any{"max_system": 6 * 3 * 2, "chains": 2, "steps": 1, "draws": 2}},
		},
	}
}

func TestTable(t *testing.T) {
	s := env(t)
	o, err := closedset.Run(context.Background(), small(), s)
	if err != nil {
		t.Fatal(err)
	}
	cells := o.Results.(closedset.Results).Cells
	for _, row := range cells[:2] {
		for _, c := range row {
			if len(c.Accuracies) != 3 || slices.Min(c.Accuracies) < 0.5 || slices.Max(c.Accuracies) > 1 {
				t.Errorf("%s, %d classes: %v", c.Row, c.Classes, c.Accuracies)
			}
		}
	}
	if got := cells[2]; len(got[0].Accuracies) != 3 || got[1].Accuracies != nil || got[2].Accuracies != nil {
		t.Errorf("one-vs-each takes three classes and refuses five: %v", got)
	}
	tree := cells[0]
	if tree[0].Chosen["gibbs_outputscale"] != 4 && tree[1].Chosen["gibbs_outputscale"] != 4 {
		t.Errorf("a prior that records no choice: %v", tree)
	}
	if !reflect.DeepEqual(tree[2].Chosen, tree[1].Chosen) || len(tree[1].Chosen) != 2 || cells[1][0].Chosen != nil {
		t.Errorf("eight classes take the choice of five: %v, %v", tree[1].Chosen, tree[2].Chosen)
	}
	if n := len(o.Tables[0].Rows); n != 3+5 || o.Tables[0].Rows[2][2] != table.None || len(o.Tables[1].Rows) != 2 ||
		len(o.Tables[2].Rows) != 1 {
		t.Errorf("tables %v", o.Tables)
	}
	if err := o.Write(t.TempDir(), nil); err != nil {
		t.Error(err)
	}
	again, err := closedset.Run(context.Background(), small(), env(t))
	if err != nil || !reflect.DeepEqual(again.Tables, o.Tables) {
		t.Errorf("the same seed gives other tables, %v", err)
	}
	kept, err := closedset.Run(context.Background(), small(), s)
	if err != nil || !reflect.DeepEqual(kept.Tables, o.Tables) {
		t.Errorf("the saved runs give other tables, %v", err)
	}
}

// TestMoreClassesKeepTheDraw: the classes of a run are nested, so a row without
// a grid has the same accuracy whatever else is measured.
func TestMoreClassesKeepTheDraw(t *testing.T) {
	c := small()
	c.Rows = c.Rows[1:2]
	all, err := closedset.Run(context.Background(), c, env(t))
	if err != nil {
		t.Fatal(err)
	}
	c.Classes = []int{5}
	one, err := closedset.Run(context.Background(), c, env(t))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := all.Results.(closedset.Results).Cells[0][1],
		one.Results.(closedset.Results).Cells[0][0]; !reflect.DeepEqual(a, b) {
		t.Errorf("%v and %v", a, b)
	}
}

func TestMistakesAreExplained(t *testing.T) {
	for want, change := range map[string]func(*closedset.Config, *experiment.Env){
		"--features":        func(_ *closedset.Config, s *experiment.Env) { s.Features = "" },
		"rows is empty":     func(c *closedset.Config, _ *experiment.Env) { c.Rows = nil },
		"8 classes have 6":  func(c *closedset.Config, _ *experiment.Env) { c.Classes = []int{3, 9} },
		"0 classes have 13": func(c *closedset.Config, _ *experiment.Env) { c.PerClass = 13 },
		"gptree.root_bias": func(c *closedset.Config, _ *experiment.Env) {
			c.Rows[0].Set = map[string]any{"root_bias": 1e9}
		},
		"did you mean \"ncm\"?": func(c *closedset.Config, _ *experiment.Env) { c.Rows[1].Classifier = "ncn" },
	} {
		c, s := small(), env(t)
		change(&c, &s)
		var input *experiment.InputError
		if _, err := closedset.Run(context.Background(), c, s); !errors.As(err, &input) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for field, change := range map[string]func(*closedset.Config){
		"classes":                              func(c *closedset.Config) { c.Classes = []int{5, 3} },
		"per_class":                            func(c *closedset.Config) { c.PerClass = 0 },
		"held_out":                             func(c *closedset.Config) { c.HeldOut = 1 },
		"runs":                                 func(c *closedset.Config) { c.Runs = 0 },
		"grid_runs":                            func(c *closedset.Config) { c.GridRuns = 0 },
		"grid_most":                            func(c *closedset.Config) { c.GridMost = 2 },
		"published":                            func(c *closedset.Config) { c.Published = "table9" },
		"rows: the name \"tree\" occurs twice": func(c *closedset.Config) { c.Rows[1].Name = "tree" },
		"rows: 1 (tree): grid.kernel":          func(c *closedset.Config) { c.Rows[0].Grid["kernel"] = nil },
		"rows: 1 (tree): grid.base":            func(c *closedset.Config) { c.Rows[0].Grid["base"] = []any{"vi"} },
		"rows: 1 (tree): auto is not a method": func(c *closedset.Config) { c.Rows[0].Classifier = "auto" },
		"rows: 1 (a/b): name":                  func(c *closedset.Config) { c.Rows[0].Name = "a/b" },
	} {
		c := small()
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
