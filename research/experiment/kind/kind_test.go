package kind_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/research/experiment/kind"
)

func TestKindsAreSortedAndDescribed(t *testing.T) {
	all := kind.DefaultConfig().Kinds()
	if !slices.IsSortedFunc(all, func(a, b kind.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, k := range all {
		if k.Summary == "" {
			t.Errorf("%s is not described", k.Name)
		}
		if found, err := (kind.Config{Kind: k.Name}).Find(); err != nil || found.Name != k.Name {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	if err := kind.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*kind.Config){
		`kind: unknown kind of experiment "ablaton"; did you mean "ablation"`: func(c *kind.Config) {
			c.Kind = "ablaton"
		},
		"ablation.q: -1":        func(c *kind.Config) { c.Ablation.Q = []int{-1} },
		"ablation.q: is empty":  func(c *kind.Config) { c.Ablation.Q = nil },
		"ablation.q: 3":         func(c *kind.Config) { c.Ablation.Q = []int{3, 3} },
		"ablation.lambda: -1":   func(c *kind.Config) { c.Ablation.Lambda = []float64{-1} },
		"ablation.lambda: is":   func(c *kind.Config) { c.Ablation.Lambda = nil },
		"ablation.published: ":  func(c *kind.Config) { c.Ablation.Published = "table3_5" },
		`inputs: "a=" is`:       func(c *kind.Config) { c.Ablation.Inputs = []string{"a="} },
		`two are called "feat"`: func(c *kind.Config) { c.Ablation.Inputs = []string{"x/feat", "y/feat/"} },
	} {
		c := kind.DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
