package plda

import "fmt"

// Auto as Config.Epsilon means that pseudo-sessions inside the base session
// choose.
const Auto = 0

// Config holds the settings of the two-covariance model.
type Config struct {
	// Epsilon is ε, the share of the within-class covariance that is replaced
	// by a multiple of I with the same trace; 0 (Auto) means choose it on the
	// base session.
	Epsilon float64 `json:"epsilon" mapstructure:"epsilon"`
	// Certain makes it linear discriminant analysis, the limit in which class
	// means are known: μ is the mean of the examples and v = 0. ε is then that of
	// LDA, and Epsilon must be 0. It is not a key of the configuration file.
	Certain bool `json:"certain,omitempty" mapstructure:"-"`
}

// defaultEpsilon suits many backbones; it is also used if Auto has too little
// data to choose from.
const defaultEpsilon = 0.3

// DefaultConfig returns ε = 0.3.
func DefaultConfig() Config { return Config{Epsilon: defaultEpsilon} }

// LDA returns the settings of linear discriminant analysis with the shrinkage
// Σ' = ((N−1)S + tr(S)·I)/(N−1+d), N being the number of examples of the base
// session. It has no settings of its own: S and N are set by the base session,
// and a new class only adds its mean.
func LDA() Config { return Config{Certain: true} }

// auto reports whether pseudo-sessions choose ε.
func (c Config) auto() bool { return c.Epsilon == Auto && !c.Certain }

// method returns the name of the head.
func (c Config) method() string {
	if c.Certain {
		return "lda"
	}
	return "plda"
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if c.Epsilon == Auto {
		return nil
	}
	if c.Certain {
		return fmt.Errorf("epsilon: %g was given, but LDA has its own", c.Epsilon)
	}
	return checkEpsilon(c.Epsilon)
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 1e-6 && epsilon <= 1) {
		return fmt.Errorf("epsilon: %g is outside 1e-6 … 1; 0 means choose it on the base session", epsilon)
	}
	return nil
}
