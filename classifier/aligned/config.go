package aligned

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Config holds the settings of the head.
type Config struct {
	// Epsilon is ε, the share of the within-class covariance that is replaced by
	// a multiple of I with the same trace.
	Epsilon float64 `json:"epsilon" mapstructure:"epsilon"`
	// BaseShare is the share of the images to label that are expected to show
	// classes of the base session; 0 means that every class is equally likely.
	BaseShare float64 `json:"base_share" mapstructure:"base_share"`
}

// DefaultConfig returns ε = ½ and equally likely classes.
func DefaultConfig() Config { return Config{Epsilon: 0.5} }

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if err := setting.Float("epsilon", c.Epsilon, 1e-6, 1); err != nil {
		return err
	}
	if c.BaseShare != 0 && !(c.BaseShare >= 1e-6 && c.BaseShare <= 1-1e-6) {
		return fmt.Errorf("base_share: %g is outside 1e-6 … 0.999999; 0 means that every class is equally likely", c.BaseShare)
	}
	return nil
}
