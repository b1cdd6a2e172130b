package plda

import "fmt"

// Auto as Config.Epsilon lets pseudo-sessions inside the base session choose.
const Auto = 0

// Config holds the settings of the two-covariance model.
type Config struct {
	// Epsilon is ε, the share of the within-class covariance that is replaced
	// by a multiple of I with the same trace; 0 (Auto) means choose it on the
	// base session.
	Epsilon float64 `json:"epsilon" mapstructure:"epsilon"`
}

// defaultEpsilon suits many backbones, and holds where Auto finds too little
// data to choose from.
const defaultEpsilon = 0.3

// DefaultConfig returns ε = 0.3.
func DefaultConfig() Config { return Config{Epsilon: defaultEpsilon} }

// Validate names the field that is out of range.
func (c Config) Validate() error {
	if c.Epsilon == Auto {
		return nil
	}
	return checkEpsilon(c.Epsilon)
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 1e-6 && epsilon <= 1) {
		return fmt.Errorf("epsilon: %g is outside 1e-6 … 1; 0 means choose it on the base session", epsilon)
	}
	return nil
}
