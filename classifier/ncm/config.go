package ncm

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// The metrics.
const (
	Cosine    = "cosine"
	Euclidean = "euclidean"
)

// DefaultTemperature is the cosine temperature if there is nothing to fit it
// on, a value typical of image embeddings. The Euclidean default is the same
// share of the mean squared distance of the examples from their mean.
const DefaultTemperature = 0.03

// Config holds the settings of the nearest class mean.
type Config struct {
	// Metric is "cosine" or "euclidean".
	Metric string `json:"metric" mapstructure:"metric"`
	// Temperature is τ; 0 means fit it on the base session.
	Temperature float64 `json:"temperature" mapstructure:"temperature"`
}

// DefaultConfig returns cosine with a fitted temperature.
func DefaultConfig() Config { return Config{Metric: Cosine} }

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if c.Temperature != 0 && !(c.Temperature >= 1e-6 && c.Temperature <= 1e12) {
		return fmt.Errorf("temperature: %g is neither 0 (fit it) nor within 1e-6 … 1e12", c.Temperature)
	}
	return setting.OneOf("metric", c.Metric, Cosine, Euclidean)
}
