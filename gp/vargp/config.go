package vargp

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// A Variant is the method of the paper or one it is compared with (Table 1,
// appendix B.2).
type Variant string

// The variants.
const (
	// Full is VAR-GP: q(u_t | u_<t) = N(A_t u_<t + m_t, S_t).
	Full Variant = "var-gp"
	// BlockDiagonal has q(u_t) = N(m_t, S_t), independent of u_<t.
	BlockDiagonal Variant = "block-diagonal"
	// BlockDiagonalPublished is BlockDiagonal as the authors' program computes it:
	// only the KL divergence has q(u_t) = N(m_t, S_t); predictions, in training and
	// after it, still have q(u_t | u_<t) = N(A_t u_<t + m_t, S_t).
	BlockDiagonalPublished Variant = "block-diagonal-published"
	// PointHypers uses a point estimate of the hyper-parameters that maximises
	// the bound without their KL divergence ("MLE hypers").
	PointHypers Variant = "mle-hypers"
	// Global has one set of inducing inputs, replaced by each task (appendix B.1).
	Global Variant = "global"
	// Retrain continues to train old inducing inputs ("Re-VAR-GP", appendix B.2).
	Retrain Variant = "re-var-gp"
	// RetrainPublished is Retrain as the authors' program computes it: the last
	// term of eq. 19, the only one that depends on old data, has a derivative
	// with respect to θ only.
	RetrainPublished Variant = "re-var-gp-published"
)

// Variants returns all variants, VAR-GP first.
func Variants() []Variant {
	return []Variant{Full, BlockDiagonal, BlockDiagonalPublished, PointHypers, Global, Retrain, RetrainPublished}
}

// A Start is the initial value of S_t.
type Start string

// The starts.
const (
	// FromPrior is the prior's covariance given the old inducing outputs: the
	// KL divergence starts at 0.
	FromPrior Start = "prior"
	// FromIdentity is I, as in the paper.
	FromIdentity Start = "identity"
)

// A Stopping is a rule for early stopping.
type Stopping string

// The stopping rules.
const (
	// Best returns the parameters of the epoch with the highest mean log
	// probability of the validation examples, and ends training when that has not
	// grown by Tolerance for Patience epochs.
	Best Stopping = "best"
	// AsPaper is Algorithm 1: it ends training when the accuracy differs by less
	// than Tolerance from that of Patience epochs ago, and returns the last
	// parameters.
	AsPaper Stopping = "paper"
)

// Config holds the settings of a model and of its training. Fields without a key
// of mapstructure are set by what the settings are a part of.
type Config struct {
	Variant Variant `json:"variant" mapstructure:"-"`
	// OwnInputs gives every head its own inducing inputs, as in the official
	// code; without it all heads share them and one factor of K.
	OwnInputs bool `json:"own_inputs" mapstructure:"own_inputs"`
	// Network holds the widths of the layers of a network in front of the kernel,
	// the last being its output (appendix B.3); empty means none. Its weights are
	// a point estimate, trained with every task.
	Network []int `json:"network,omitempty" mapstructure:"network"`
	// Beta is β, the weight of the KL divergence of the hyper-parameters.
	Beta float64 `json:"beta" mapstructure:"beta"`
	// HyperSamples is the number of draws of θ in a training step,
	// FunctionSamples that of draws of f for each θ.
	HyperSamples    int `json:"hyper_samples" mapstructure:"hyper_samples"`
	FunctionSamples int `json:"function_samples" mapstructure:"function_samples"`
	// Jitter is added to the diagonal of K.
	Jitter float64 `json:"jitter" mapstructure:"jitter"`
	// Rate is the learning rate of Yogi; Batch is the number of examples in a
	// step.
	Rate  float64 `json:"rate" mapstructure:"rate"`
	Batch int     `json:"batch" mapstructure:"batch"`
	// Epochs and Steps bound the training of a task; 0 Steps means no bound but
	// Epochs.
	Epochs int `json:"epochs" mapstructure:"epochs"`
	Steps  int `json:"steps" mapstructure:"steps"`
	// Stopping is the rule of early stopping, with Patience (in epochs) and
	// Tolerance as its parameters.
	Stopping  Stopping `json:"stopping" mapstructure:"-"`
	Patience  int      `json:"patience" mapstructure:"patience"`
	Tolerance float64  `json:"tolerance" mapstructure:"tolerance"`
	Start     Start    `json:"start" mapstructure:"-"`
	// PredictHypers is the number of draws of θ in a prediction, PredictFunctions
	// that of draws of f for each θ.
	PredictHypers    int `json:"predict_hypers" mapstructure:"predict_hypers"`
	PredictFunctions int `json:"predict_functions" mapstructure:"predict_functions"`
	// Seed determines every draw.
	Seed uint64 `json:"seed" mapstructure:"-"`
}

// DefaultConfig returns settings for a few hundred image embeddings.
func DefaultConfig() Config {
	return Config{
		Variant: Full, Beta: 1, HyperSamples: 3, FunctionSamples: 10, Jitter: 1e-4,
		Rate: 0.02, Batch: 512, Epochs: 200, Steps: 600, Stopping: Best, Patience: 20, Tolerance: 1e-4,
		Start: FromPrior, PredictHypers: 10, PredictFunctions: 20,
	}
}

// Validate names the field that is out of range.
func (c Config) Validate() error {
	return cmp.Or(
		setting.OneOf("variant", c.Variant, Variants()...), c.validateNetwork(),
		setting.OneOf("stopping", c.Stopping, Best, AsPaper), setting.OneOf("start", c.Start, FromPrior, FromIdentity),
		setting.Float("beta", c.Beta, 0, 1e6), setting.Float("jitter", c.Jitter, 1e-10, 1),
		setting.Float("rate", c.Rate, 1e-8, 10), setting.Float("tolerance", c.Tolerance, 0, 1e6),
		setting.Int("hyper_samples", c.HyperSamples, 1, 1000),
		setting.Int("function_samples", c.FunctionSamples, 1, 1000),
		setting.Int("batch", c.Batch, 1, 1<<20), setting.Int("epochs", c.Epochs, 1, 1e6),
		setting.Int("steps", c.Steps, 0, 1e9),
		setting.Int("patience", c.Patience, 1, 1e6), setting.Int("predict_hypers", c.PredictHypers, 1, 100),
		setting.Int("predict_functions", c.PredictFunctions, 1, 1000),
	)
}

func (c Config) validateNetwork() error {
	for _, w := range c.Network {
		if w < 1 || w > maxWidth {
			return fmt.Errorf("network: a layer of %d is outside 1 … %d", w, maxWidth)
		}
	}
	if len(c.Network) > maxLayers {
		return fmt.Errorf("network: %d layers, at most %d", len(c.Network), maxLayers)
	}
	if len(c.Network) > 0 && c.remembers() {
		return fmt.Errorf("network: variant %s cannot have one, since its old inducing inputs do not pass through it",
			c.Variant)
	}
	return nil
}

// draws returns the number of draws of θ in a step and of f for each θ. With a
// point estimate of θ all draws are of f.
func (c Config) draws() (hypers, functions int) {
	if c.Variant == PointHypers {
		return 1, c.HyperSamples * c.FunctionSamples
	}
	return c.HyperSamples, c.FunctionSamples
}

// retrains reports whether old blocks are trained with the new one.
func (c Config) retrains() bool { return c.Variant == Retrain || c.Variant == RetrainPublished }

// autoRegressive reports whether inducing outputs of a task depend on older ones.
func (c Config) autoRegressive() bool { return c.Variant != BlockDiagonal }

// remembers reports whether the bound has a term in q(ũ), the posterior of old
// inducing outputs before the task.
func (c Config) remembers() bool { return c.Variant == Global || c.retrains() }
