package closedset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// mostCombinations bounds the grid of a row.
const mostCombinations = 10_000

// Config describes the comparison.
type Config struct {
	Rows     []Row `mapstructure:"rows" json:"rows"`
	Classes  []int `mapstructure:"classes" json:"classes"`
	PerClass int   `mapstructure:"per_class" json:"per_class"`
	HeldOut  int   `mapstructure:"held_out" json:"held_out"`
	Runs     int   `mapstructure:"runs" json:"runs"`
	GridRuns int   `mapstructure:"grid_runs" json:"grid_runs"`
	GridMost int   `mapstructure:"grid_most" json:"grid_most"`
	// Published is the name of a table whose rows follow ours, or "".
	Published string `mapstructure:"published" json:"published"`
}

// A Row is a head with its own settings.
type Row struct {
	Name string `mapstructure:"name" json:"name"`
	// Classifier is the method's name.
	Classifier string `mapstructure:"classifier" json:"classifier"`
	// Set holds fixed settings, Grid the candidate values of others.
	Set  map[string]any   `mapstructure:"set" json:"set,omitempty" yaml:",omitempty"`
	Grid map[string][]any `mapstructure:"grid" json:"grid,omitempty" yaml:",omitempty"`
}

// DefaultConfig returns the sizes of Table 1 and no rows.
func DefaultConfig() Config {
	return Config{Rows: []Row{}, Classes: []int{4, 6, 8, 10, 20, 30, 40, 50, 60}, PerClass: 30, HeldOut: 60, Runs: 10,
		GridRuns: 1, GridMost: 60}
}

// Validate returns an error that names the first field out of range. Settings
// of rows are checked against the defaults of their heads.
func (c Config) Validate() error {
	for i, n := range c.Classes {
		if n < 2 || n > 100_000 || i > 0 && n <= c.Classes[i-1] {
			return fmt.Errorf("classes: %d is less than 2, more than 100000, or not more than the one before", n)
		}
	}
	if len(c.Classes) == 0 {
		return fmt.Errorf("classes: is empty; give at least one number of classes")
	}
	err := cmp.Or(
		setting.Int("per_class", c.PerClass, 1, 1<<20),
		setting.Int("held_out", c.HeldOut, 2, 1<<20),
		setting.Int("runs", c.Runs, 1, 1000),
		setting.Int("grid_runs", c.GridRuns, 1, 1000),
		setting.Int("grid_most", c.GridMost, c.Classes[0], 100_000),
	)
	if err != nil {
		return err
	}
	if _, err := c.published(); err != nil {
		return err
	}
	return c.validateRows(method.DefaultConfig())
}

func (c Config) published() (experiment.Published, error) {
	return experiment.PublishedTable(c.Published, "achituve_table1")
}

// validateRows checks the rows against the settings that they change.
func (c Config) validateRows(settings method.Config) error {
	for i, r := range c.Rows {
		if slices.ContainsFunc(c.Rows[:i], func(other Row) bool { return other.Name == r.Name }) {
			return fmt.Errorf("rows: the name %q occurs twice", r.Name)
		}
		if err := r.validate(settings); err != nil {
			return fmt.Errorf("rows: %d (%s): %w", i+1, cmp.Or(r.Name, "no name"), err)
		}
	}
	return nil
}

func (r Row) validate(settings method.Config) error {
	if _, err := method.Find(r.Classifier); err != nil {
		return err
	}
	n := 1
	for key, values := range r.Grid {
		if n *= len(values); n == 0 || n > mostCombinations {
			return fmt.Errorf("grid.%s: is empty, or there are more than %d combinations", key, mostCombinations)
		}
		if _, ok := r.Set[key]; ok {
			return fmt.Errorf("grid.%s: is also in set", key)
		}
	}
	for _, v := range r.variants() {
		if err := v.Validate(settings); err != nil {
			return err
		}
	}
	return nil
}

// variants returns the row with every combination of its grid, keys in order;
// the last key varies fastest.
func (r Row) variants() []method.Variant {
	out := []method.Variant{{Name: r.Name, Classifier: r.Classifier, Set: r.Set}}
	for _, key := range slices.Sorted(maps.Keys(r.Grid)) {
		var longer []method.Variant
		for _, v := range out {
			for _, value := range r.Grid[key] {
				set := map[string]any{key: value}
				maps.Copy(set, v.Set)
				longer = append(longer, method.Variant{Name: r.Name, Classifier: r.Classifier, Set: set})
			}
		}
		out = longer
	}
	return out
}
