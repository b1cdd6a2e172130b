// Package gpr measures what incremental Gaussian process regression gains over
// batch fits: Figs. 1 to 4 of Lütz, Rodner and Denzler 2011, the first on a
// toy in the plane, the others on embeddings.
//
//	figure  settings                   what
//	1       Grid                       scores of every class in the plane, as examples of an old class
//	                                   and then of a new one arrive
//	2       N, K, Repeats              time to add k examples to n: iterative and direct Woodbury updates,
//	                                   a growing Cholesky factor, and a batch fit of n+k
//	3       Classes, Examples          accuracy on all classes as they arrive one by one
//	4       Classes, Start, Step, Steps   accuracy on all classes as examples of each arrive
//
// The batch fit is our fastest: kernel matrix, Cholesky factor and weights, on
// the same kernels. Every time is the median of Repeats. Small k are timed over
// several consecutive additions (up to 33 examples), so that the work deferred
// by Woodbury updates is included. Times depend on the machine and are the only
// results that differ from run to run. Images are drawn by seed, for Figs. 3
// and 4 again in each of Runs, from classes that have enough of them.
//
// The paper does not say how the toy of Fig. 1 was drawn: ours has three classes
// of round clusters, the first of two. It needs no feature folder.
//
// Figs. 3 and 4 use the head gpr (classifier.gpr, with its caps raised as far
// as the figure needs) and ncm, and compare every step with a head that learned
// everything so far at once.
//
// Cost at the defaults: n = 4000 with k = 1000 iterative updates takes some
// minutes; memory is three times 4(n+k)² bytes. Every n, and every run of Figs.
// 3 and 4, is saved when it is finished.
package gpr

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// Config holds the sizes of the figures.
type Config struct {
	// Grid is the number of points per side of the pictures of Fig. 1; 0 omits
	// it.
	Grid int `mapstructure:"grid" json:"grid"`
	// N are numbers of examples, K numbers added to them; an empty N omits Fig.
	// 2.
	N []int `mapstructure:"n" json:"n"`
	K []int `mapstructure:"k" json:"k"`
	// Repeats is how often everything is timed.
	Repeats int `mapstructure:"repeats" json:"repeats"`
	// Classes is the number of classes in Figs. 3 and 4; 0 omits both.
	// TestPerClass is the most test images of each, Runs the number of draws.
	Classes      int `mapstructure:"classes" json:"classes"`
	TestPerClass int `mapstructure:"test_per_class" json:"test_per_class"`
	Runs         int `mapstructure:"runs" json:"runs"`
	// Examples is the number of examples per class in Fig. 3.
	Examples int `mapstructure:"examples" json:"examples"`
	// Start and Step are examples per class in Fig. 4, Steps the number of
	// steps.
	Start int `mapstructure:"start" json:"start"`
	Step  int `mapstructure:"step" json:"step"`
	Steps int `mapstructure:"steps" json:"steps"`
}

// DefaultConfig returns the sizes of the paper where it gives them.
func DefaultConfig() Config {
	return Config{
		Grid: 60, N: []int{500, 1000, 2000, 4000}, K: []int{1, 3, 10, 30, 100, 300, 1000}, Repeats: 3,
		Classes: 15, TestPerClass: 100, Runs: 10, Examples: 25, Start: 5, Step: 10, Steps: 5,
	}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	err := cmp.Or(
		experiment.EachWithin("n", c.N, 1, 20_000),
		experiment.EachWithin("k", c.K, 1, 20_000),
		setting.Int("repeats", c.Repeats, 1, 1000),
		setting.Int("classes", c.Classes, 0, 1000),
		setting.Int("test_per_class", c.TestPerClass, 1, 1<<20),
		setting.Int("runs", c.Runs, 1, 1000),
		setting.Int("examples", c.Examples, 1, 1000),
		setting.Int("start", c.Start, 1, 1000),
		setting.Int("step", c.Step, 1, 1000),
		setting.Int("steps", c.Steps, 0, 1000),
	)
	if err != nil {
		return err
	}
	if c.Grid < 0 || c.Grid == 1 || c.Grid > 1000 {
		return fmt.Errorf("grid: %d is not in 2 … 1000, or 0", c.Grid)
	}
	if len(c.N) > 0 && len(c.K) == 0 {
		return fmt.Errorf("k: is empty; give at least one number of examples to add, or no n")
	}
	if c.Classes == 1 {
		return fmt.Errorf("classes: 1 leaves nothing to tell apart; give at least 2, or 0")
	}
	return nil
}

// most returns the largest number of examples per class in Figs. 3 and 4.
func (c Config) most() int { return max(c.Examples, c.Start+c.Step*c.Steps) }
