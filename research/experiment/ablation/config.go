package ablation

import (
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// Config holds what is varied. All other settings of PPCA are those of
// classifier.ppca.
type Config struct {
	// Inputs are feature folders, FEATDIR or NAME=FEATDIR; if empty, the folder
	// given with --features.
	Inputs []string `mapstructure:"inputs" json:"inputs"`
	// Q are the numbers of components.
	Q []int `mapstructure:"q" json:"q"`
	// Lambda are the noise variances; 0 means chosen on the base session.
	Lambda []float64 `mapstructure:"lambda" json:"lambda"`
	// Published is the table whose rows follow ours: table3_2, table3_3,
	// table3_4, or "".
	Published string `mapstructure:"published" json:"published"`
}

// DefaultConfig returns the components of Table 3.4 at λ = 0.01.
func DefaultConfig() Config {
	return Config{Inputs: []string{}, Q: []int{0, 5, 10, 20, 50, 100, 200}, Lambda: []float64{0.01}}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	if len(c.Q) == 0 {
		return fmt.Errorf("q: is empty; give at least one number of components")
	}
	if err := experiment.EachWithin("q", c.Q, 0, 1<<16); err != nil {
		return err
	}
	if len(c.Lambda) == 0 {
		return fmt.Errorf("lambda: is empty; give at least one noise variance")
	}
	if err := experiment.Each("lambda", c.Lambda, "0 or in 1e-12 … 1e12",
		func(l float64) bool { return l == 0 || l >= 1e-12 && l <= 1e12 }); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, in := range c.Inputs {
		name, dir := split(in)
		if name == "" || dir == "" {
			return fmt.Errorf("inputs: %q is neither FEATDIR nor NAME=FEATDIR", in)
		}
		if seen[name] {
			return fmt.Errorf("inputs: two are called %q; write NAME=FEATDIR", name)
		}
		seen[name] = true
	}
	_, err := c.published()
	return err
}

func (c Config) published() (experiment.Published, error) {
	return experiment.PublishedTable(c.Published, "table3_2", "table3_3", "table3_4")
}

// split splits NAME=FEATDIR; the default name is the last part of the path,
// with either separator.
func split(input string) (name, dir string) {
	if name, dir, ok := strings.Cut(input, "="); ok {
		return name, dir
	}
	name = strings.TrimRight(input, `/\`)
	return name[strings.LastIndexAny(name, `/\`)+1:], input
}
