package ablation

import (
	"fmt"
	"slices"
	"strings"
)

// Config holds what is varied. Whatever else PPCA has stands under
// classifier.ppca.
type Config struct {
	// Inputs are feature folders, FEATDIR or NAME=FEATDIR; none means the one
	// that --features gives.
	Inputs []string `mapstructure:"inputs" json:"inputs"`
	// Q are the numbers of components.
	Q []int `mapstructure:"q" json:"q"`
	// Lambda are the noise variances; 0 means chosen on the base session.
	Lambda []float64 `mapstructure:"lambda" json:"lambda"`
	// Published is the table whose rows stand below ours: one of
	// PublishedTables, or "".
	Published string `mapstructure:"published" json:"published"`
}

// DefaultConfig returns the components of Table 3.4 at λ = 0.01.
func DefaultConfig() Config {
	return Config{Inputs: []string{}, Q: []int{0, 5, 10, 20, 50, 100, 200}, Lambda: []float64{0.01}}
}

// Validate names the first field that is out of range.
func (c Config) Validate() error {
	if len(c.Q) == 0 {
		return fmt.Errorf("q: is empty; give at least one number of components")
	}
	for i, q := range c.Q {
		if q < 0 || q > 1<<16 || slices.Contains(c.Q[:i], q) {
			return fmt.Errorf("q: %d is outside 0 … 65536 or there twice", q)
		}
	}
	if len(c.Lambda) == 0 {
		return fmt.Errorf("lambda: is empty; give at least one noise variance")
	}
	for i, l := range c.Lambda {
		if !(l == 0 || l >= 1e-12 && l <= 1e12) || slices.Contains(c.Lambda[:i], l) {
			return fmt.Errorf("lambda: %g is neither 0 nor in 1e-12 … 1e12, or there twice", l)
		}
	}
	if err := c.validateInputs(); err != nil {
		return err
	}
	if c.Published != "" && !slices.Contains(PublishedTables(), c.Published) {
		return fmt.Errorf("published: %q is none of %s", c.Published, strings.Join(PublishedTables(), ", "))
	}
	return nil
}

func (c Config) validateInputs() error {
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
	return nil
}

// split takes NAME=FEATDIR apart; without a name it is the folder's own.
func split(input string) (name, dir string) {
	if name, dir, ok := strings.Cut(input, "="); ok {
		return name, dir
	}
	return base(input), input
}

// base is the last part of a path, whatever its separator.
func base(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
