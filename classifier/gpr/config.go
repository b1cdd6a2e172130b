package gpr

import (
	"cmp"
	"fmt"

	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Auto as a length-scale or noise means that the marginal likelihood of the
// base session chooses.
const Auto = 0

// The kernels.
const (
	RBF    = "rbf"
	Linear = "linear"
)

// What to do with more examples of a class than Config.MaxPerClass.
const (
	// Refuse returns an error.
	Refuse = "refuse"
	// First stores those that come first.
	First = "first"
	// Herd stores those whose mean is nearest to that of all, one by one.
	Herd = "herd"
)

// Config holds the settings of Gaussian process regression.
type Config struct {
	// Kernel is "rbf" or "linear".
	Kernel string `json:"kernel" mapstructure:"kernel"`
	// Lengthscale is ℓ of the RBF kernel, in the units of the embeddings; 0
	// (Auto) means choose it on the base session.
	Lengthscale float64 `json:"lengthscale" mapstructure:"lengthscale"`
	// Noise is σ², the variance of a label around the function, relative to a
	// kernel of 1 of an embedding with itself; 0 (Auto) means choose it.
	Noise float64 `json:"noise" mapstructure:"noise"`
	// Normalize scales embeddings to length 1.
	Normalize bool `json:"normalize" mapstructure:"normalize"`
	// Update is the algorithm that keeps the inverse up to date: "cholesky",
	// "direct" or "iterative" (package gp/gpr).
	Update engine.Method `json:"update" mapstructure:"update"`
	// MaxPerClass is the maximum number of stored examples of a class, MaxTotal
	// that of all classes.
	MaxPerClass int `json:"max_per_class" mapstructure:"max_per_class"`
	MaxTotal    int `json:"max_total" mapstructure:"max_total"`
	// OverCap says what to do with more examples of a class: "refuse", "first" or
	// "herd".
	OverCap string `json:"over_cap" mapstructure:"over_cap"`
}

// Defaults of the settings that Auto can choose; they suit image embeddings of
// length 1.
const (
	defaultLengthscale = 0.7
	defaultNoise       = 0.03
)

// largestCap bounds the caps: a triangle of 1e5 rows is 40 GB.
const largestCap = 100_000

// DefaultConfig returns an RBF kernel on embeddings of length 1, and caps of 30
// per class and 5000 in all.
func DefaultConfig() Config {
	return Config{
		Kernel: RBF, Lengthscale: defaultLengthscale, Noise: defaultNoise, Normalize: true,
		Update: engine.DefaultConfig().Method, MaxPerClass: 30, MaxTotal: 5000, OverCap: Refuse,
	}
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if err := setting.OneOf("kernel", c.Kernel, RBF, Linear); err != nil {
		return err
	}
	for _, f := range []struct {
		name        string
		value       float64
		least, most float64
	}{{"lengthscale", c.Lengthscale, 1e-3, 1e6}, {"noise", c.Noise, 1e-6, 1e6}} {
		if f.value != Auto && !(f.value >= f.least && f.value <= f.most) {
			return fmt.Errorf("%s: %g is neither 0 (choose it on the base session) nor within %g … %g", f.name, f.value,
				f.least, f.most)
		}
	}
	return cmp.Or(
		setting.OneOf("update", c.Update, engine.Cholesky, engine.Direct, engine.Iterative),
		setting.Int("max_per_class", c.MaxPerClass, 1, largestCap), setting.Int("max_total", c.MaxTotal, 1, largestCap),
		setting.OneOf("over_cap", c.OverCap, Refuse, First, Herd),
	)
}
