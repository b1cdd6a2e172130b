package vargp

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Auto as a length-scale means that the spread of the base session determines
// it.
const Auto = 0

// Config holds the settings of the head. Settings shared with gp/vargp.Config
// have the same meaning.
type Config struct {
	// Variant is "var-gp", or one of those that the paper compares it with.
	Variant vargp.Variant `json:"variant" mapstructure:"variant"`
	// CountAs is the number of examples per class that a session counts as, or
	// the number in the richest session if that is larger (package comment); 0
	// means the actual number, as in the paper.
	CountAs int `json:"count_as" mapstructure:"count_as"`
	// Normalize scales embeddings to length 1.
	Normalize bool `json:"normalize" mapstructure:"normalize"`
	// Lengthscale is the initial value of all length-scales; 0 (Auto) means the
	// root mean square distance of two examples of the base session, over √2, as
	// the kernel sees them.
	Lengthscale float64 `json:"lengthscale" mapstructure:"lengthscale"`
	// Inducing is the number of inducing inputs for each class of a session,
	// MaxInducing the maximum per session.
	Inducing    int `json:"inducing" mapstructure:"inducing"`
	MaxInducing int `json:"max_inducing" mapstructure:"max_inducing"`
	// OwnInputs gives every class separate inducing inputs.
	OwnInputs bool `json:"own_inputs" mapstructure:"own_inputs"`
	// Network holds the layer widths of a network in front of the kernel, trained
	// with every session (appendix B.3); empty means none.
	Network []int `json:"network" mapstructure:"network"`
	// Beta is the weight of the divergence of the hyper-parameters.
	Beta float64 `json:"beta" mapstructure:"beta"`
	// Rate, Batch, Epochs and Steps configure the optimiser, per session.
	Rate   float64 `json:"rate" mapstructure:"rate"`
	Batch  int     `json:"batch" mapstructure:"batch"`
	Epochs int     `json:"epochs" mapstructure:"epochs"`
	Steps  int     `json:"steps" mapstructure:"steps"`
	// Validation is the share of a session's examples, of classes with at least
	// ten, that decides when to stop; Patience is in epochs.
	Validation float64 `json:"validation" mapstructure:"validation"`
	Patience   int     `json:"patience" mapstructure:"patience"`
	// Numbers of draws in a training step and in a prediction.
	HyperSamples     int `json:"hyper_samples" mapstructure:"hyper_samples"`
	FunctionSamples  int `json:"function_samples" mapstructure:"function_samples"`
	PredictHypers    int `json:"predict_hypers" mapstructure:"predict_hypers"`
	PredictFunctions int `json:"predict_functions" mapstructure:"predict_functions"`
	// Jitter is added to the diagonal of kernel matrices.
	Jitter float64 `json:"jitter" mapstructure:"jitter"`
	// Seed decides every draw. It is the seed of the run, not a key of the
	// section.
	Seed uint64 `json:"seed" mapstructure:"-"`
}

// DefaultConfig returns settings for image embeddings.
func DefaultConfig() Config {
	d := vargp.DefaultConfig()
	return Config{
		Variant: d.Variant, CountAs: 100, Normalize: true, Network: []int{}, Inducing: 5, MaxInducing: 60, Beta: 10,
		Rate: 0.03, Batch: 256, Epochs: d.Epochs, Steps: 300, Validation: 0.1, Patience: d.Patience,
		HyperSamples: d.HyperSamples, FunctionSamples: d.FunctionSamples, PredictHypers: d.PredictHypers,
		PredictFunctions: d.PredictFunctions,
		Jitter:           d.Jitter,
	}
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	if c.Lengthscale != Auto && !(c.Lengthscale >= 1e-6 && c.Lengthscale <= 1e6) {
		return fmt.Errorf("lengthscale: %g is neither 0 (from the base session) nor within 1e-6 … 1e6", c.Lengthscale)
	}
	return cmp.Or(
		setting.Int("count_as", c.CountAs, 0, maxCountAs), setting.Float("validation", c.Validation, 0, 0.5),
		setting.Int("inducing", c.Inducing, 1, maxInducing), setting.Int("max_inducing", c.MaxInducing, 1, maxInducing),
		c.model().Validate(),
	)
}

const (
	// maxInducing bounds inducing inputs: kernel matrices have that many rows.
	maxInducing = 1 << 12
	maxCountAs  = 1 << 20
)

func (c Config) model() vargp.Config {
	return vargp.Config{
		Variant: c.Variant, OwnInputs: c.OwnInputs, Network: c.Network, Beta: c.Beta, HyperSamples: c.HyperSamples,
		FunctionSamples: c.FunctionSamples, Jitter: c.Jitter,
		Rate: c.Rate, Batch: c.Batch, Epochs: c.Epochs, Steps: c.Steps, Stopping: vargp.Best, Patience: c.Patience,
		Tolerance: tolerance,
		Start:     vargp.FromPrior, PredictHypers: c.PredictHypers, PredictFunctions: c.PredictFunctions, Seed: c.Seed,
	}
}

// tolerance is the minimum gain of the validation examples' mean
// log-probability that counts as an improvement, in nats.
const tolerance = 1e-4
