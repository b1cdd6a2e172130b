// Package ppcaonline repeats the experiments of Pamplona and Manzanera, "Naturally
// Constrained Online Expectation Maximization", ICPR 2020, with the engine of ppca-online:
//
//	Figure 1  independent examples: log-likelihood of all test data by step
//	Figure 2  one class after the other: the same
//	Figure 3  one class after the other: log-likelihood of every class
//	Figure 4  interference: a class learned after another one, minus the class learned alone
//
// Data (section IV): x = Wz + ε, W the left singular vectors of a matrix of
// uniform values in ±½ (d×q), z standard normal, σ uniform in (0, 1), μ = 0.
// Classes are the Voronoi cells of centroids, which are training points with
// noise added. A seed draws W, σ, the centroids, the examples, their order, and
// the initial parameters.
//
// The paper lists means over five runs. The spread over seeds is about ten
// times the effect, because σ, and hence the likelihood, differs by seed rather
// than by method. The figure to compare is therefore the difference from plain
// online EM on the same seed, with its standard deviation over seeds. β is
// chosen on validation data, for every policy and every form of the R-step,
// from the grid listed in the results; the paper chose it from the same grid by
// the likelihood shown in its figures. The paper gives the class policy a
// smaller γ than plain online EM; here both are run with both values.
//
// Choices that the paper leaves open: every class has the same number of
// examples, Train/Classes; the noise of a centroid is Gaussian with standard
// deviation CentroidNoise; learning starts from μ and W uniform in ±½ and σ² =
// 1; in Figure 4 the step counter continues from the first class to the second,
// as in continual learning, so the second class gets a smaller γ than a class
// learned alone.
//
// Cost: seeds × settings × Train steps of O(dq²), settings being 1 + β × (forms
// of the R-step) × policies, for each γ; Figure 4 takes Classes² times as long.
// A seed is a part.
package ppcaonline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
)

// Config describes the data, the grid and the figure.
type Config struct {
	// Figure is 1, 2, 3 or 4.
	Figure int `mapstructure:"figure" json:"figure"`
	// D and Q shape the data and the models.
	D int `mapstructure:"d" json:"d"`
	Q int `mapstructure:"q" json:"q"`
	// Classes is the number of classes; Train and Test count examples of all
	// classes together.
	Classes int `mapstructure:"classes" json:"classes"`
	Train   int `mapstructure:"train" json:"train"`
	Test    int `mapstructure:"test" json:"test"`
	// CentroidNoise is the standard deviation of the noise added to a centroid.
	CentroidNoise float64 `mapstructure:"centroid_noise" json:"centroid_noise"`
	// Seeds is the number of runs.
	Seeds int `mapstructure:"seeds" json:"seeds"`
	// Gamma are the factors of γ; the first is the paper's for plain online EM
	// and the step policy, the last its factor for the class policy.
	Gamma []float64 `mapstructure:"gamma" json:"gamma"`
	// Exponent is the exponent of γ and β.
	Exponent float64 `mapstructure:"exponent" json:"exponent"`
	// Beta are the factors of β to choose from.
	Beta []float64 `mapstructure:"beta" json:"beta"`
	// Fisher and RStep are the forms of the R-step.
	Fisher []string `mapstructure:"fisher" json:"fisher"`
	RStep  []string `mapstructure:"rstep" json:"rstep"`
	// Every is the number of steps between two points of a curve.
	Every int `mapstructure:"every" json:"every"`
}

// DefaultConfig returns the paper's settings for Figure 1.
func DefaultConfig() Config {
	return Config{
		Figure: 1, D: 16, Q: 3, Classes: 4, Train: 3200, Test: 800, CentroidNoise: 0.1, Seeds: 5,
		Gamma: []float64{0.9, 0.5}, Exponent: 0.9, Beta: []float64{0.01, 0.1, 1, 10, 100},
		Fisher: []string{engine.Exact, engine.Paper}, RStep: []string{engine.Paper, engine.ByFisher, engine.Identity},
		Every: 50,
	}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	err := cmp.Or(
		setting.Int("figure", c.Figure, 1, 4),
		setting.Int("d", c.D, 2, 1024),
		setting.Int("q", c.Q, 1, min(64, c.D-1)),
		setting.Int("classes", c.Classes, 2, 26),
		setting.Int("train", c.Train, 2*c.Classes, 1e6),
		setting.Int("test", c.Test, c.Classes, 1e6),
		setting.Int("seeds", c.Seeds, 1, 1000),
		setting.Int("every", c.Every, 1, 1e6),
		oneOf("fisher", c.Fisher, engine.Exact, engine.Paper),
		oneOf("rstep", c.RStep, engine.Paper, engine.ByFisher, engine.Identity),
	)
	if err != nil {
		return err
	}
	if !(c.CentroidNoise >= 0 && c.CentroidNoise <= 100) {
		return fmt.Errorf("centroid_noise: %g is outside 0 … 100", c.CentroidNoise)
	}
	if len(c.Gamma) == 0 || len(c.Beta) == 0 {
		return fmt.Errorf("gamma and beta: give at least one value of each")
	}
	for _, s := range c.grid() {
		if err := s.config(c.Exponent).Validate(); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(name string, values []string, allowed ...string) error {
	what := strings.Join(allowed, ", ")
	if len(values) == 0 {
		return fmt.Errorf("%s: is empty; the values are %s", name, what)
	}
	return experiment.Each(name, values, "one of "+what, func(v string) bool { return slices.Contains(allowed, v) })
}

// A variant is one way to learn.
type variant struct {
	Policy string  `json:"policy"`
	Fisher string  `json:"fisher,omitempty"`
	RStep  string  `json:"rstep,omitempty"`
	Gamma  float64 `json:"gamma"`
	Beta   float64 `json:"beta"`
}

func (s variant) config(exponent float64) engine.Config {
	c := engine.DefaultConfig()
	c.Policy, c.Gamma, c.Beta = s.Policy, s.Gamma, s.Beta
	c.GammaExponent, c.BetaExponent = exponent, exponent
	c.Fisher, c.RStep = cmp.Or(s.Fisher, c.Fisher), cmp.Or(s.RStep, c.RStep)
	return c
}

// String names the setting in a title, without the form of its R-step.
func (s variant) String() string {
	text := s.Policy + ", γ " + number(s.Gamma)
	if s.Policy != engine.None {
		text += ", β " + number(s.Beta)
	}
	return text
}

// placeAxes are those of a place, in the order of tables.
func placeAxes() []string { return []string{"policy", "R-step", "Fisher", "γ", "β"} }

// place returns the place of the setting; what a policy does not have is "".
func (s variant) place() grid.Place {
	beta := ""
	if s.Policy != engine.None {
		beta = number(s.Beta)
	}
	return grid.At("policy", s.Policy, "R-step", s.RStep, "Fisher", s.Fisher, "γ", number(s.Gamma), "β", beta)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// form returns the setting without its β.
func (s variant) form() variant {
	s.Beta = 0
	return s
}

// policies returns the policies that the figure compares with none.
func (c Config) policies() []string {
	if c.Figure == 1 {
		return []string{engine.Step} // no class ends
	}
	return []string{engine.Step, engine.Class}
}

// grid returns all settings; for every γ, plain online EM comes first. With identity the
// Fisher information is not used.
func (c Config) grid() []variant {
	var grid []variant
	for _, gamma := range c.Gamma {
		grid = append(grid, variant{Policy: engine.None, Gamma: gamma})
		for _, policy := range c.policies() {
			for _, rstep := range c.RStep {
				fishers := c.Fisher
				if rstep == engine.Identity {
					fishers = []string{""}
				}
				for _, fisher := range fishers {
					for _, beta := range c.Beta {
						grid = append(grid, variant{policy, fisher, rstep, gamma, beta})
					}
				}
			}
		}
	}
	return grid
}
