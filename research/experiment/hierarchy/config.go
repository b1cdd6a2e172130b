package hierarchy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// Config holds what is varied; all other settings are those of
// classifier.hppca. An empty list omits its table.
type Config struct {
	// Synthetic generates the data if its K is not 0; otherwise they come from
	// the feature folder.
	Synthetic Synthetic `mapstructure:"synthetic" json:"synthetic"`
	// MinTrain excludes classes of a feature folder with fewer training
	// examples.
	MinTrain int `mapstructure:"min_train" json:"min_train"`
	// MaxTest is the most test examples, evenly spaced; 0 means all.
	MaxTest int `mapstructure:"max_test" json:"max_test"`
	// Runs is how often the hierarchy is built, each time with another seed;
	// results are means.
	Runs int `mapstructure:"runs" json:"runs"`
	// S are numbers of super-classes (Table 5.3, one visited), T numbers of
	// visits (Tables 5.1, 5.2 and 5.4), Q components of both classes and
	// super-classes (5.5), R components of super-classes (5.6 and 5.7).
	S []int `mapstructure:"s" json:"s"`
	T []int `mapstructure:"t" json:"t"`
	Q []int `mapstructure:"q" json:"q"`
	R []int `mapstructure:"r" json:"r"`
	// Levels are numbers of levels, compared at the T of classifier.hppca.
	Levels []int `mapstructure:"levels" json:"levels"`
	// Variants are the ways of building super-classes, compared at every T:
	// gaussians, mean_seeds (seeds by the mean term) and raw.
	Variants []string `mapstructure:"variants" json:"variants"`
}

// Variants of building super-classes.
const (
	Gaussians = "gaussians"
	MeanSeeds = "mean_seeds"
	Raw       = "raw"
)

// DefaultConfig returns the paper's numbers of visits and all variants.
func DefaultConfig() Config {
	return Config{
		Synthetic: Synthetic{Dim: 640, Train: 25, Test: 2, Noise: 0.4},
		MinTrain:  20, MaxTest: 4000, Runs: 1, S: []int{}, T: []int{1, 2, 3, 4}, Q: []int{}, R: []int{},
		Levels:   []int{},
		Variants: []string{Gaussians, MeanSeeds, Raw},
	}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	if c.Synthetic.K != 0 {
		if err := c.Synthetic.validate(); err != nil {
			return fmt.Errorf("synthetic.%w", err)
		}
	}
	if c.MaxTest < 0 {
		return fmt.Errorf("max_test: %d is negative; 0 means all", c.MaxTest)
	}
	if len(c.T) == 0 || len(c.Variants) == 0 {
		return fmt.Errorf("t: there must be at least one number of visits, and one of variants")
	}
	known := []string{Gaussians, MeanSeeds, Raw}
	return cmp.Or(
		setting.Int("min_train", c.MinTrain, 1, 1<<20),
		setting.Int("runs", c.Runs, 1, 1000),
		experiment.EachWithin("s", c.S, 1, 1<<24),
		experiment.EachWithin("t", c.T, 1, 1<<24),
		experiment.EachWithin("q", c.Q, 0, 1<<16),
		experiment.EachWithin("r", c.R, 0, 1<<16),
		experiment.EachWithin("levels", c.Levels, 2, 8),
		experiment.Each("variants", c.Variants, "one of "+strings.Join(known, ", "),
			func(v string) bool { return slices.Contains(known, v) }),
	)
}
