package ppca

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// The presets.
const (
	PresetDefault = "default"
	PresetPaper   = "paper"
)

// Auto as Config.Lambda means that pseudo-sessions inside the base session
// choose.
const Auto = 0

// defaultLambda is meant for embeddings of length 1.
const defaultLambda = 0.01

// maxQ bounds the components of a class.
const maxQ = 1 << 16

// Config holds the settings of PPCA.
type Config struct {
	// Preset is "default" or "paper": it sets Normalize and LogDet if they are
	// nil.
	Preset string `json:"preset" mapstructure:"preset"`
	// Q is the maximum number of principal components of a class; 0 leaves only
	// the mean and λ.
	Q int `json:"q" mapstructure:"q"`
	// Lambda is λ, the noise variance of all classes, on the scale of the
	// embeddings; 0 (Auto) means choose it on the base session.
	Lambda float64 `json:"lambda" mapstructure:"lambda"`
	// Normalize scales embeddings to length 1; nil means as in the preset.
	Normalize *bool `json:"normalize" mapstructure:"normalize"`
	// LogDet uses the log-determinant, making the scores log-densities; nil means
	// as in the preset.
	LogDet *bool `json:"logdet" mapstructure:"logdet"`
	// Statistics stores what is needed to learn more examples of an old class and
	// to forget single ones: up to 4d² bytes per class. It is not a key of the
	// section: classifier.statistics sets it.
	Statistics bool `json:"statistics" mapstructure:"-"`
	// Seed decides which pseudo-sessions are drawn. It is the seed of the run, not
	// a key of the section, and 0 if λ is given.
	Seed uint64 `json:"seed,omitempty" mapstructure:"-"`
}

// DefaultConfig returns q = 20, λ = 0.01, embeddings of length 1, with
// log-determinant and statistics.
func DefaultConfig() Config {
	return Config{Preset: PresetDefault, Q: 20, Lambda: defaultLambda, Statistics: true}
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	err := cmp.Or(setting.OneOf("preset", c.Preset, PresetDefault, PresetPaper), setting.Int("q", c.Q, 0, maxQ))
	if err != nil || c.Lambda == Auto {
		return err
	}
	return checkLambda(c.Lambda)
}

func checkLambda(lambda float64) error {
	if !(lambda >= 1e-12 && lambda <= 1e12) {
		return fmt.Errorf("lambda: %g is outside 1e-12 … 1e12; 0 means choose it on the base session", lambda)
	}
	return nil
}

// Resolve returns the configuration with Normalize and LogDet set.
func (c Config) Resolve() Config {
	if c.Normalize == nil {
		c.Normalize = new(c.Preset == PresetDefault)
	}
	if c.LogDet == nil {
		c.LogDet = new(c.Preset == PresetDefault)
	}
	return c
}
