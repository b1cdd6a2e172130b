package closedset_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/closedset"
	"github.com/seed-90d10d51/pipeline/research/experiment/experimenttest"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/grid"
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
	o, cells := experimenttest.Run(t, small(), env(t))
	accuracies := func(row string, classes int) []float64 {
		return cells.Values(grid.At("row", row, "classes", classes), "accuracy")
	}
	for _, row := range []string{"tree", "means"} {
		for _, n := range small().Classes {
			if a := accuracies(row, n); len(a) != 3 || slices.Min(a) < 0.5 || slices.Max(a) > 1 {
				t.Errorf("%s, %d classes: %v", row, n, a)
			}
		}
	}
	if len(accuracies("few", 3)) != 3 || accuracies("few", 5) != nil || accuracies("few", 8) != nil {
		t.Error("one-vs-each takes three classes and refuses five")
	}
	chosen := func(row, classes int) string { return cells[3*row+classes].At["chosen"] }
	if !strings.HasSuffix(chosen(0, 0), ", 4") && !strings.HasSuffix(chosen(0, 1), ", 4") {
		t.Errorf("a prior that records no choice: %s", chosen(0, 0))
	}
	if chosen(0, 2) != chosen(0, 1) || chosen(1, 0) != "" {
		t.Errorf("eight classes take the choice of five: %s, %s", chosen(0, 1), chosen(0, 2))
	}
	if n := len(o.Tables[0].Rows); n != 3+5 || o.Tables[0].Rows[2][2] != table.None || len(o.Tables[1].Rows) != 2 ||
		len(o.Tables[2].Rows) != 1 {
		t.Errorf("tables %v", o.Tables)
	}
	if _, again := experimenttest.Run(t, small(), env(t)); !reflect.DeepEqual(again, cells) {
		t.Error("the same seed gives other accuracies")
	}
}

// TestMoreClassesKeepTheDraw: the classes of a run are nested, so a row without
// a grid has the same accuracy whatever else is measured.
func TestMoreClassesKeepTheDraw(t *testing.T) {
	c := small()
	c.Rows = c.Rows[1:2]
	_, all := experimenttest.Run(t, c, env(t))
	c.Classes = []int{5}
	if _, one := experimenttest.Run(t, c, env(t)); !reflect.DeepEqual(all[1], one[0]) {
		t.Errorf("%v and %v", all[1], one[0])
	}
}

func TestMistakesAreExplained(t *testing.T) {
	experimenttest.Explains(t, small, func() experiment.Env { return env(t) },
		map[string]func(*closedset.Config, *experiment.Env){
			"--features":        func(_ *closedset.Config, s *experiment.Env) { s.Features = "" },
			"rows is empty":     func(c *closedset.Config, _ *experiment.Env) { c.Rows = nil },
			"8 classes have 6":  func(c *closedset.Config, _ *experiment.Env) { c.Classes = []int{3, 9} },
			"0 classes have 13": func(c *closedset.Config, _ *experiment.Env) { c.PerClass = 13 },
			"gptree.root_bias": func(c *closedset.Config, _ *experiment.Env) {
				c.Rows[0].Set = map[string]any{"root_bias": 1e9}
			},
			"did you mean \"ncm\"?": func(c *closedset.Config, _ *experiment.Env) { c.Rows[1].Classifier = "ncn" },
		})
	experimenttest.Names(t, small, map[string]func(*closedset.Config){
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
	})
}
