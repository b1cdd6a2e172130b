package dkl

import (
	"cmp"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// maxWidth bounds the width of a layer, maxParameters those of a head (2 GiB).
const (
	maxWidth      = 1 << 16
	maxParameters = 1 << 28
)

// Config holds the settings of a projection head.
type Config struct {
	// Dim is D, the width of the projection.
	Dim int `json:"dim" mapstructure:"dim"`
	// Hidden is the width of a ReLU layer before the projection; 0 means a linear
	// head.
	Hidden int `json:"hidden" mapstructure:"hidden"`
	// Residual adds x to the output, or a trained linear map of x if d ≠ D. A
	// linear head can have it only if d = D.
	Residual bool `json:"residual" mapstructure:"residual"`
	// Seed determines the initial values.
	Seed uint64 `json:"seed" mapstructure:"seed"`
}

// Validate names the field that is out of range.
func (c Config) Validate() error {
	return cmp.Or(setting.Int("dim", c.Dim, 1, maxWidth), setting.Int("hidden", c.Hidden, 0, maxWidth))
}
