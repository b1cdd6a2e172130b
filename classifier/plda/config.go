package plda

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Auto as Config.Epsilon means that pseudo-sessions inside the base session
// choose.
const Auto = 0

// Config holds the settings of the two-covariance model.
type Config struct {
	// Epsilon is ε, the share of the within-class covariance that is replaced
	// by a multiple of I with the same trace; 0 (Auto) means choose it on the
	// base session.
	Epsilon float64 `json:"epsilon" mapstructure:"epsilon"`
	// LeaveOut replaces the default ε, 0.3, by one that is chosen by leaving
	// examples out if no class of the base session has more than 20. An Epsilon
	// other than 0.3 is used as it is.
	LeaveOut bool `json:"leave_out,omitempty" mapstructure:"leave_out"`
	// Certain makes it linear discriminant analysis, the limit in which class
	// means are known: μ is the mean of the examples and v = 0. ε is then that of
	// LDA, and Epsilon and LeaveOut must not be set. It is not a key of the
	// configuration file.
	Certain bool `json:"certain,omitempty" mapstructure:"-"`
	// MeanLength is η: how far the length of a class mean is moved towards the expected
	// one, from 0, not at all, to 1 (gauss.Space.Length).
	MeanLength float64 `json:"mean_length,omitempty" mapstructure:"mean_length"`
	// Seed decides which pseudo-sessions are drawn. It is the seed of the run, not
	// a key of the section, and 0 unless Epsilon is Auto.
	Seed uint64 `json:"seed,omitempty" mapstructure:"-"`
}

// defaultEpsilon suits large base sessions on many backbones; it is also used if
// Auto has too little data to choose from.
const defaultEpsilon = 0.3

// DefaultConfig leaves out, and has ε = 0.3 for large base sessions.
func DefaultConfig() Config {
	return Config{Epsilon: defaultEpsilon, LeaveOut: true, MeanLength: gauss.DefaultLength}
}

// LDA returns the settings of linear discriminant analysis with the shrinkage
// Σ' = ((N−1)S + tr(S)·I)/(N−1+d), N being the number of examples of the base
// session. It has no settings of its own: S and N are set by the base session,
// and a new class only adds its mean.
func LDA() Config { return Config{Certain: true} }

// auto reports whether the base session chooses ε.
func (c Config) auto() bool { return !c.Certain && (c.Epsilon == Auto || c.leavesOut()) }

// leavesOut reports whether ε is chosen by leaving out in a small base session.
func (c Config) leavesOut() bool { return c.LeaveOut && c.Epsilon == defaultEpsilon }

// method returns the name of the head.
func (c Config) method() string {
	if c.Certain {
		return "lda"
	}
	return "plda"
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if c.Certain && (c.Epsilon != 0 || c.LeaveOut) {
		return fmt.Errorf("epsilon: %g was given or to be chosen by leaving out, but LDA has its own", c.Epsilon)
	}
	err := setting.Float("mean_length", c.MeanLength, 0, 1)
	if err != nil || c.Epsilon == Auto {
		return err
	}
	return checkEpsilon(c.Epsilon)
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 1e-6 && epsilon <= 1) {
		return fmt.Errorf("epsilon: %g is outside 1e-6 … 1; 0 means choose it on the base session", epsilon)
	}
	return nil
}
