package hierarchy

import (
	"fmt"
	"slices"
)

// Config holds what is varied around classifier.hppca, whose settings hold for
// everything else. An empty list leaves its table out.
type Config struct {
	// Synthetic draws the data where its K is not 0; otherwise they come from
	// the feature folder.
	Synthetic Synthetic `mapstructure:"synthetic" json:"synthetic"`
	// MinTrain leaves out classes of a feature folder that have fewer training
	// examples.
	MinTrain int `mapstructure:"min_train" json:"min_train"`
	// MaxTest bounds the test examples, taken evenly; 0 means all.
	MaxTest int `mapstructure:"max_test" json:"max_test"`
	// Runs is how often the hierarchy is made, with different seeds; values
	// are means.
	Runs int `mapstructure:"runs" json:"runs"`
	// S are numbers of super-classes (Table 5.3, one visited), T numbers of
	// visits (Tables 5.1, 5.2 and 5.4), Q components of classes and
	// super-classes alike (5.5), R components of super-classes (5.6 and 5.7).
	S []int `mapstructure:"s" json:"s"`
	T []int `mapstructure:"t" json:"t"`
	Q []int `mapstructure:"q" json:"q"`
	R []int `mapstructure:"r" json:"r"`
	// Levels are numbers of levels, compared at the T of classifier.hppca.
	Levels []int `mapstructure:"levels" json:"levels"`
	// Variants are the ways of making super-classes that are compared at every
	// T: gaussians, mean_seeds (seeds by the mean term) and raw.
	Variants []string `mapstructure:"variants" json:"variants"`
}

// Variants of how super-classes are made.
const (
	Gaussians = "gaussians"
	MeanSeeds = "mean_seeds"
	Raw       = "raw"
)

// DefaultConfig returns the paper's numbers of visits and all variants.
func DefaultConfig() Config {
	return Config{
		Synthetic: Synthetic{Dim: 640, Train: 25, Test: 2},
		MinTrain:  20, MaxTest: 4000, Runs: 1, S: []int{}, T: []int{1, 2, 3, 4}, Q: []int{}, R: []int{}, Levels: []int{},
		Variants: []string{Gaussians, MeanSeeds, Raw},
	}
}

// Validate names the first field that is out of range.
func (c Config) Validate() error {
	if c.Synthetic.K != 0 {
		if err := c.Synthetic.validate(); err != nil {
			return fmt.Errorf("synthetic.%w", err)
		}
	}
	for _, f := range []struct {
		name        string
		value, most int
	}{{"min_train", c.MinTrain, 1 << 20}, {"runs", c.Runs, 1000}} {
		if f.value < 1 || f.value > f.most {
			return fmt.Errorf("%s: %d is outside 1 … %d", f.name, f.value, f.most)
		}
	}
	if c.MaxTest < 0 {
		return fmt.Errorf("max_test: %d is negative; 0 means all", c.MaxTest)
	}
	for _, l := range []struct {
		name        string
		values      []int
		least, most int
	}{{"s", c.S, 1, 1 << 24}, {"t", c.T, 1, 1 << 24}, {"q", c.Q, 0, 1 << 16}, {"r", c.R, 0, 1 << 16}, {"levels", c.Levels, 2, 8}} {
		for i, v := range l.values {
			if v < l.least || v > l.most || slices.Contains(l.values[:i], v) {
				return fmt.Errorf("%s: %d is outside %d … %d or there twice", l.name, v, l.least, l.most)
			}
		}
	}
	return c.validateVariants()
}

func (c Config) validateVariants() error {
	if len(c.T) == 0 || len(c.Variants) == 0 {
		return fmt.Errorf("t: there must be at least one number of visits, and one of variants")
	}
	for i, v := range c.Variants {
		if v != Gaussians && v != MeanSeeds && v != Raw || slices.Contains(c.Variants[:i], v) {
			return fmt.Errorf("variants: %q is none of %s, %s and %s, or there twice", v, Gaussians, MeanSeeds, Raw)
		}
	}
	return nil
}
