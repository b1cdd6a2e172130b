package engine

import (
	"cmp"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Policies: when the reference of the constraint is updated.
const (
	None  = "none"
	Step  = "step"
	Class = "class"
)

// Forms of the Fisher information: that of the appendix, or of the main text.
const (
	Exact = "exact"
	Paper = "paper"
)

// How strongly an element is pulled; RStepPaper is Paper.
const (
	ByFisher = "fisher"
	Identity = "identity"
)

// Config says how a Model learns.
type Config struct {
	// Policy is None, Step or Class.
	Policy string `json:"policy" mapstructure:"policy"`
	// Fisher is Exact or Paper.
	Fisher string `json:"fisher" mapstructure:"fisher"`
	// RStep is Paper, ByFisher or Identity.
	RStep string `json:"rstep" mapstructure:"rstep"`
	// γ_k = Gamma·(k+Offset)^−GammaExponent, k = 1 for the first example, at
	// most 1.
	Gamma         float64 `json:"gamma" mapstructure:"gamma"`
	GammaExponent float64 `json:"gamma_exponent" mapstructure:"gamma_exponent"`
	Offset        float64 `json:"offset" mapstructure:"offset"`
	// β_k = Beta·k^−BetaExponent.
	Beta         float64 `json:"beta" mapstructure:"beta"`
	BetaExponent float64 `json:"beta_exponent" mapstructure:"beta_exponent"`
	// MinSigma2 is the minimum of σ², which is at least 1e-100 in any case.
	MinSigma2 float64 `json:"min_sigma2" mapstructure:"-"`
}

// DefaultConfig returns the paper's step policy with the exact Fisher
// information: γ = 0.9k^−0.9, β = k^−0.9.
func DefaultConfig() Config {
	return Config{
		Policy: Step, Fisher: Exact, RStep: Paper,
		Gamma: 0.9, GammaExponent: 0.9, Beta: 1, BetaExponent: 0.9,
	}
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	return cmp.Or(
		setting.OneOf("policy", c.Policy, None, Step, Class), setting.OneOf("fisher", c.Fisher, Exact, Paper),
		setting.OneOf("rstep", c.RStep, Paper, ByFisher, Identity),
		setting.Float("gamma", c.Gamma, 1e-6, 1), setting.Float("gamma_exponent", c.GammaExponent, 0, 1),
		setting.Float("offset", c.Offset, 0, 1e6),
		setting.Float("beta", c.Beta, 0, 1e12), setting.Float("beta_exponent", c.BetaExponent, 0, 10),
		setting.Float("min_sigma2", c.MinSigma2, 0, 1e100),
	)
}

const leastSigma2 = 1e-100

// gamma returns γ_k.
func (c Config) gamma(k int) float64 {
	return math.Min(1, c.Gamma*math.Pow(float64(k)+c.Offset, -c.GammaExponent))
}

// beta returns β_k.
func (c Config) beta(k int) float64 { return c.Beta * math.Pow(float64(k), -c.BetaExponent) }
