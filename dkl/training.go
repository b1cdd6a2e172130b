package dkl

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// Presets of the schedule: those of the paper's benchmarks (§C.2, C.3), and one
// for embeddings of a frozen backbone.
const (
	PresetFrozen       = "frozen"
	PresetCUB          = "cub"
	PresetMiniImageNet = "mini_imagenet"
	PresetCIFAR        = "cifar"
	// PresetWhiten trains nothing: the projection is Whiten alone, in closed
	// form.
	PresetWhiten = "whiten"
)

// What decides whether a trained projection is used.
const (
	// KeepEvidence compares the head behind it with the head without it, on
	// examples of the base session that neither has learned.
	KeepEvidence = "evidence"
	// KeepAlways uses it, as the paper does.
	KeepAlways = "always"
)

// FromPreset selects the preset's value for settings where 0 has a meaning.
const FromPreset = -1

// A Training holds the settings for training a projection. A setting of 0, or
// FromPreset where 0 has a meaning, takes the value of the preset.
type Training struct {
	// Preset is one of Presets.
	Preset string `json:"preset" mapstructure:"preset"`
	// Dim, Hidden and Residual are those of Config. A Dim of 0 takes the value of
	// the preset; in a residual head without a hidden layer, such as that of the
	// preset frozen, it is the width of the embeddings.
	Dim      int  `json:"dim" mapstructure:"dim"`
	Hidden   int  `json:"hidden" mapstructure:"hidden"`
	Residual bool `json:"residual" mapstructure:"residual"`
	// Whiten lets a linear residual head start as the whitening by the
	// covariance within base classes instead of as the identity.
	Whiten bool `json:"whiten" mapstructure:"whiten"`
	// Epochs is the total number of epochs; the first Pretrain of them minimise
	// cross-entropy.
	Epochs   int `json:"epochs" mapstructure:"epochs"`
	Pretrain int `json:"pretrain" mapstructure:"pretrain"`
	// Steps is the least number of steps in an epoch: it passes over the examples
	// as often as that takes, with few examples more than once.
	Steps int `json:"steps" mapstructure:"steps"`
	// Batch is the number of examples in a step; Rate is the initial learning
	// rate.
	Batch int     `json:"batch" mapstructure:"batch"`
	Rate  float64 `json:"rate" mapstructure:"rate"`
	// WeightDecay pulls all parameters to 0, Anchor those of the head to their
	// initial values.
	WeightDecay float64 `json:"weight_decay" mapstructure:"weight_decay"`
	Anchor      float64 `json:"anchor" mapstructure:"anchor"`
	// NaturalRate is ρ of the natural-gradient steps.
	NaturalRate float64 `json:"natural_rate" mapstructure:"natural_rate"`
	// Inducing is the number of inducing inputs per class.
	Inducing int `json:"inducing" mapstructure:"inducing"`
	// Validation is the share of every class that is held out. Phase 2 ends after
	// Patience epochs without a better accuracy on it; 0 means never.
	Validation float64 `json:"validation" mapstructure:"validation"`
	Patience   int     `json:"patience" mapstructure:"patience"`
	// Views is the number of augmented views of every image, besides itself,
	// that training draws from.
	Views int `json:"views" mapstructure:"views"`
	// HandOver lets a gptree behind the projection take over the trained inducing
	// inputs and kernel instead of choosing its own. Training is the same.
	HandOver bool `json:"hand_over" mapstructure:"hand_over"`
	// Keep is KeepEvidence or KeepAlways; empty is KeepAlways. Training is the
	// same.
	Keep string `json:"keep" mapstructure:"keep"`
	// Seed determines every draw. It is the seed of the run, not a separate key.
	Seed uint64 `json:"seed" mapstructure:"-"`
}

// DefaultTraining returns the preset for frozen backbones.
func DefaultTraining() Training {
	return Training{Preset: PresetFrozen, Keep: KeepEvidence, Pretrain: FromPreset, Steps: FromPreset,
		WeightDecay: FromPreset, Anchor: FromPreset, Validation: 0.05, Patience: 10}
}

// Presets lists the names.
func Presets() []string {
	return []string{PresetFrozen, PresetCUB, PresetMiniImageNet, PresetCIFAR, PresetWhiten}
}

// preset returns the complete settings of a preset.
func preset(name string) Training {
	t := Training{Dim: 512, Epochs: 100, Pretrain: 20, Batch: 128, Rate: 0.01, WeightDecay: 1e-4, NaturalRate: 0.05,
		Inducing: 5}
	switch name {
	case PresetMiniImageNet:
		t.Pretrain, t.Rate = 40, 0.1
	case PresetCIFAR:
		t.Dim, t.Epochs, t.Pretrain, t.Batch, t.Inducing = 1024, 200, 80, 256, 40
	case PresetFrozen:
		t.Epochs, t.Pretrain, t.Steps, t.Anchor = 12, 6, 20, 0.1
	case PresetWhiten:
		t.Epochs, t.Pretrain, t.Whiten = 0, 0, true
	}
	return t
}

// milestones returns the epochs at which the rate drops to a tenth.
func milestones(preset string, epochs int) []int {
	switch preset {
	case PresetCIFAR:
		return []int{100, 150}
	case PresetFrozen:
		return []int{2 * epochs / 3, 5 * epochs / 6}
	}
	return []int{40, 60}
}

// Resolved returns the settings with all values of the preset filled in.
func (t Training) Resolved() Training {
	p := preset(t.Preset)
	t.Residual, t.Whiten = t.Residual || t.linear(), t.Whiten || p.Whiten
	t.Dim, t.Epochs, t.Batch, t.Inducing = cmp.Or(t.Dim, p.Dim), cmp.Or(t.Epochs, p.Epochs), cmp.Or(t.Batch, p.Batch),
		cmp.Or(t.Inducing, p.Inducing)
	t.Rate, t.NaturalRate = cmp.Or(t.Rate, p.Rate), cmp.Or(t.NaturalRate, p.NaturalRate)
	if t.Pretrain == FromPreset {
		t.Pretrain = min(p.Pretrain, t.Epochs)
	}
	if t.Steps == FromPreset {
		t.Steps = p.Steps
	}
	if t.WeightDecay == FromPreset {
		t.WeightDecay = p.WeightDecay
	}
	if t.Anchor == FromPreset {
		t.Anchor = p.Anchor
	}
	return t
}

// linear reports whether the head is the linear residual one of the presets
// frozen and whiten.
func (t Training) linear() bool {
	return (t.Preset == PresetFrozen || t.Preset == PresetWhiten) && t.Dim == 0 && t.Hidden == 0
}

// head returns the settings of the head for embeddings of in values.
func (t Training) head(in int) Config {
	r := t.Resolved()
	if t.Dim == 0 && r.Residual && r.Hidden == 0 {
		r.Dim = in
	}
	return Config{Dim: r.Dim, Hidden: r.Hidden, Residual: r.Residual, Seed: r.Seed}
}

func (t Training) sgd() SGDConfig {
	return SGDConfig{Rate: t.Rate, Momentum: 0.9, WeightDecay: t.WeightDecay,
		Milestones: milestones(t.Preset, t.Epochs), Decay: 0.1}
}

// Bounds of the settings.
const (
	maxEpochs   = 1 << 14
	maxBatch    = 1 << 16
	maxSteps    = 1 << 16
	maxInducing = 1 << 12
	maxViews    = 64
)

// Validate names the field that is out of range.
func (t Training) Validate() error {
	r := t.Resolved()
	least := min(1, preset(t.Preset).Epochs) // 0 for a preset that trains nothing
	if err := cmp.Or(
		setting.OneOf("preset", t.Preset, Presets()...),
		setting.OneOf("keep", cmp.Or(t.Keep, KeepAlways), KeepEvidence, KeepAlways),
		setting.Int("epochs", r.Epochs, least, maxEpochs), setting.Int("pretrain", r.Pretrain, 0, r.Epochs),
		setting.Int("steps", r.Steps, 0, maxSteps), setting.Int("batch", r.Batch, 1, maxBatch),
		setting.Int("inducing", r.Inducing, 1, maxInducing), setting.Int("patience", r.Patience, 0, maxEpochs),
		setting.Int("views", r.Views, 0, maxViews),
	); err != nil {
		return err
	}
	if r.Whiten && !(r.Residual && r.Hidden == 0) {
		return fmt.Errorf("whiten: needs a residual head without hidden layer: set residual true, and hidden and dim 0")
	}
	if !(r.NaturalRate > 0 && r.NaturalRate <= 1) {
		return fmt.Errorf("natural_rate: %g is not above 0 and at most 1", r.NaturalRate)
	}
	return cmp.Or(
		setting.Float("anchor", r.Anchor, 0, 1e6), setting.Float("validation", r.Validation, 0, 0.5),
		t.head(1).Validate(), r.sgd().Validate(),
	)
}
