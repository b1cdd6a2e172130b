package ppcaonline

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Auto as Config.Sigma2 means the variance within the classes of the base
// session.
const Auto = 0

// maxQ bounds the components of a class.
const maxQ = 1 << 12

// Config holds the settings of ppca-online.
type Config struct {
	// Q is the number of components of a class, at most d−1.
	Q int `json:"q" mapstructure:"q"`
	// Sigma2 is the initial noise variance of a class, on the scale of the
	// embeddings; 0 (Auto) means take it from the base session.
	Sigma2 float64 `json:"sigma2" mapstructure:"sigma2"`
	// Floor is the minimum noise variance in units of Sigma2. It stands in for
	// the directions that few examples do not show, as λ does in ppca.
	Floor float64 `json:"floor" mapstructure:"floor"`
	// Normalize scales embeddings to length 1.
	Normalize bool `json:"normalize" mapstructure:"normalize"`
	// Seed decides the initial directions of a class. It is the seed of the run,
	// not a key of the section.
	Seed          uint64 `json:"seed" mapstructure:"-"`
	engine.Config `mapstructure:",squash"`
}

// DefaultConfig returns 20 components, a floor of twice the variance within
// the classes, and the paper's step policy.
func DefaultConfig() Config {
	return Config{Q: 20, Floor: 2, Normalize: true, Config: engine.DefaultConfig()}
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if err := setting.Int("q", c.Q, 0, maxQ); err != nil {
		return err
	}
	if c.Sigma2 != Auto && !(c.Sigma2 >= 1e-12 && c.Sigma2 <= 1e12) {
		return fmt.Errorf("sigma2: %g is outside 1e-12 … 1e12; 0 means take it from the base session", c.Sigma2)
	}
	return cmp.Or(setting.Float("floor", c.Floor, 1e-6, 1e6), c.Config.Validate())
}
