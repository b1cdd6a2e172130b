package plda

import "fmt"

// Config holds the settings of the two-covariance model.
type Config struct {
	// Epsilon is ε, the share of the within-class covariance that is replaced
	// by a multiple of I with the same trace.
	Epsilon float64 `json:"epsilon" mapstructure:"epsilon"`
}

// DefaultConfig returns ε = 0.3.
func DefaultConfig() Config { return Config{Epsilon: 0.3} }

// Validate names the field that is out of range.
func (c Config) Validate() error {
	if !(c.Epsilon >= 1e-6 && c.Epsilon <= 1) {
		return fmt.Errorf("epsilon: %g is outside 1e-6 … 1", c.Epsilon)
	}
	return nil
}
