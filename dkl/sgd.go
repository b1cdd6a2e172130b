package dkl

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// maxMilestones bounds the steps of a schedule.
const maxMilestones = 1 << 10

// SGDConfig holds the settings of stochastic gradient descent.
type SGDConfig struct {
	// Rate is the learning rate of the first epoch.
	Rate float64 `json:"rate" mapstructure:"rate"`
	// Momentum is the share of the last step that is added to the next.
	Momentum float64 `json:"momentum" mapstructure:"momentum"`
	// WeightDecay times θ is added to the gradient.
	WeightDecay float64 `json:"weight_decay" mapstructure:"weight_decay"`
	// Milestones are the epochs, counted from 0 and ascending, at which the rate
	// is multiplied by Decay.
	Milestones []int `json:"milestones" mapstructure:"milestones"`
	// Decay is the factor applied at a milestone.
	Decay float64 `json:"decay" mapstructure:"decay"`
}

// Validate names the field that is out of range.
func (c SGDConfig) Validate() error {
	if !(c.Rate > 0 && c.Rate <= 1e6) {
		return fmt.Errorf("rate: %g is not above 0 and at most 1e6", c.Rate)
	}
	if !(c.Momentum >= 0 && c.Momentum < 1) {
		return fmt.Errorf("momentum: %g is not within 0 … 1, 1 excluded", c.Momentum)
	}
	if err := setting.Float("weight_decay", c.WeightDecay, 0, 1e6); err != nil {
		return err
	}
	if len(c.Milestones) > maxMilestones || !slices.IsSorted(c.Milestones) {
		return fmt.Errorf("milestones: want at most %d epochs, ascending", maxMilestones)
	}
	if len(c.Milestones) > 0 && (c.Milestones[0] < 0 || !(c.Decay > 0 && c.Decay <= 1)) {
		return fmt.Errorf("milestones, decay: want epochs from 0 and a factor in 0 … 1, 0 excluded; got %v and %g",
			c.Milestones, c.Decay)
	}
	return nil
}

// rateAt returns the learning rate of an epoch, counted from 0.
func (c SGDConfig) rateAt(epoch int) float64 {
	rate := c.Rate
	for _, m := range c.Milestones {
		if m <= epoch {
			rate *= c.Decay
		}
	}
	return rate
}

// An SGD minimises a loss over one parameter vector, as PyTorch's SGD does:
//
//	g ← ∂L/∂θ + decay·θ,  v ← momentum·v + g,  θ ← θ − rate·v
type SGD struct {
	cfg      SGDConfig
	velocity []float64
}

// NewSGD returns an optimiser for a vector of parameters values, with v = 0.
func NewSGD(cfg SGDConfig, parameters int) (*SGD, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("sgd: %w", err)
	}
	if parameters < 1 || parameters > maxParameters {
		return nil, fmt.Errorf("sgd: %d parameters, want 1 … %d", parameters, maxParameters)
	}
	cfg.Milestones = slices.Clone(cfg.Milestones)
	return &SGD{cfg: cfg, velocity: make([]float64, parameters)}, nil
}

// Step moves theta against its gradient at the rate of an epoch, counted from 0.
// If the gradient is not finite, Step returns an error and changes nothing.
func (s *SGD) Step(theta, gradient []float64, epoch int) error {
	if len(theta) != len(s.velocity) || len(gradient) != len(s.velocity) {
		return fmt.Errorf("sgd: %d parameters and %d gradients, want %d", len(theta), len(gradient), len(s.velocity))
	}
	for i, g := range gradient {
		if g-g != 0 { // NaN for NaN and for ±Inf
			return fmt.Errorf("sgd: the gradient of parameter %d is not finite: training diverged, lower the rate", i)
		}
	}
	rate := s.cfg.rateAt(epoch)
	for i, g := range gradient {
		s.velocity[i] = s.cfg.Momentum*s.velocity[i] + (g + s.cfg.WeightDecay*theta[i])
		theta[i] -= rate * s.velocity[i]
	}
	return nil
}
