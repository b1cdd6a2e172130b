package gpsoftmax

import (
	"cmp"

	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// The names of the two heads.
const (
	LSM = "lsm"
	OVE = "ove"
)

// Bounds of the settings.
const (
	maxDraws    = 1 << 12
	maxPerClass = 1 << 16
	maxSystem   = 1 << 16
)

// Config holds the settings of a head.
type Config struct {
	// Kernel, Normalize, Lengthscale and Outputscale describe the kernel, the
	// same for every class.
	Kernel      kernel.Kind `json:"kernel" mapstructure:"kernel"`
	Normalize   bool        `json:"normalize" mapstructure:"normalize"`
	Lengthscale float64     `json:"lengthscale" mapstructure:"lengthscale"`
	Outputscale float64     `json:"outputscale" mapstructure:"outputscale"`
	// Chains is the number of Gibbs chains, Steps the number of discarded draws
	// of f in each, and Draws the number of draws stored after them.
	Chains int `json:"chains" mapstructure:"chains"`
	Steps  int `json:"steps" mapstructure:"steps"`
	Draws  int `json:"draws" mapstructure:"draws"`
	// MaxPerClass is the maximum number of examples per class, MaxSystem the
	// largest order of a linear system: n examples in LSM, n(C−1) pairs in OVE.
	MaxPerClass int `json:"max_per_class" mapstructure:"max_per_class"`
	MaxSystem   int `json:"max_system" mapstructure:"max_system"`
	// Seed decides every draw. It is the seed of the run, not a key of the
	// section.
	Seed uint64 `json:"seed" mapstructure:"-"`
}

// DefaultLSM returns the settings of the logistic-softmax: the kernel of
// GP-Tree's few-shot sessions, and systems as large as those of package gpr.
func DefaultLSM() Config {
	return Config{
		Kernel: kernel.RBF, Normalize: true, Lengthscale: 1, Outputscale: 8,
		Chains: 10, Steps: 10, Draws: 8, MaxPerClass: 30, MaxSystem: 5000,
	}
}

// DefaultOVE returns the settings of one-vs-each: the same, but systems only up
// to those of ten classes of 30 examples, where the paper stops too.
func DefaultOVE() Config {
	c := DefaultLSM()
	c.MaxSystem = 3000
	return c
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	return cmp.Or(
		setting.OneOf("kernel", c.Kernel, kernel.Kinds()...), c.kernel().Validate(),
		gp.Schedule{Chains: c.Chains, Steps: c.Steps}.Validate(),
		setting.Int("draws", c.Draws, 2, maxDraws), setting.Int("max_per_class", c.MaxPerClass, 1, maxPerClass),
		setting.Int("max_system", c.MaxSystem, 1, maxSystem),
	)
}

func (c Config) kernel() kernel.Kernel {
	return kernel.Kernel{Kind: c.Kernel, Normalize: c.Normalize, Lengthscale: c.Lengthscale, Outputscale: c.Outputscale}
}
