package dkl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/eval/experiment"
	"github.com/seed-90d10d51/pipeline/method"
)

// Config holds what is measured. The settings of the methods stand under
// classifier.….
type Config struct {
	// Candidates are settings of training, such as "residual=true anchor=0.1";
	// what is not said is as the preset says.
	Candidates []string `mapstructure:"candidates" json:"candidates"`
	// Splits is the number of pseudo-sessions that choose among them.
	Splits int `mapstructure:"splits" json:"splits"`
	// ChooseBy are the methods that choose, Methods those that are measured.
	ChooseBy []string `mapstructure:"choose_by" json:"choose_by"`
	Methods  []string `mapstructure:"methods" json:"methods"`
	// HeldOut is the number of training images of every base class that are
	// tested on instead.
	HeldOut int `mapstructure:"held_out" json:"held_out"`
	// Seeds is the number of runs.
	Seeds int `mapstructure:"seeds" json:"seeds"`
}

// DefaultConfig returns a choice between a linear head and residual ones.
func DefaultConfig() Config {
	return Config{
		Candidates: []string{"anchor=0.1", "anchor=1", "dim=512 anchor=0", "anchor=0.1 hand_over=true"},
		Splits:     2, ChooseBy: []string{"plda", "gptree"}, Methods: []string{"gptree", "plda+"}, HeldOut: 50, Seeds: 3,
	}
}

// Validate names the first field that is out of range.
func (c Config) Validate() error {
	if len(c.Candidates) == 0 {
		return fmt.Errorf("candidates: is empty; give at least one, such as dim=512")
	}
	for i, text := range c.Candidates {
		if _, err := parse(text); err != nil {
			return fmt.Errorf("candidates: %q: %w", text, err)
		}
		if slices.Contains(c.Candidates[:i], text) {
			return fmt.Errorf("candidates: %q is there twice", text)
		}
	}
	for name, methods := range map[string][]string{"choose_by": c.ChooseBy, "methods": c.Methods} {
		if len(methods) == 0 {
			return fmt.Errorf("%s: is empty; give at least one method", name)
		}
		for _, m := range methods {
			if _, err := method.Find(m); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return cmp.Or(
		experiment.Within("splits", c.Splits, 1, 1000),
		experiment.Within("held_out", c.HeldOut, 1, 1000),
		experiment.Within("seeds", c.Seeds, 1, 1000),
	)
}

// parse reads a candidate.
func parse(text string) (dkl.Training, error) {
	t := dkl.DefaultTraining()
	for _, field := range strings.Fields(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return t, fmt.Errorf("%q is not key=value", field)
		}
		if err := set(&t, key, value); err != nil {
			return t, fmt.Errorf("%s: %w", key, err)
		}
	}
	return t, t.Validate()
}

func set(t *dkl.Training, key, value string) error {
	whole := map[string]*int{"dim": &t.Dim, "hidden": &t.Hidden, "epochs": &t.Epochs, "pretrain": &t.Pretrain, "batch": &t.Batch, "inducing": &t.Inducing, "patience": &t.Patience}
	real := map[string]*float64{"rate": &t.Rate, "weight_decay": &t.WeightDecay, "anchor": &t.Anchor, "natural_rate": &t.NaturalRate}
	var err error
	switch {
	case whole[key] != nil:
		*whole[key], err = strconv.Atoi(value)
	case real[key] != nil:
		*real[key], err = strconv.ParseFloat(value, 64)
	case key == "residual":
		t.Residual, err = strconv.ParseBool(value)
	case key == "hand_over":
		t.HandOver, err = strconv.ParseBool(value)
	case key == "preset":
		t.Preset = value
	default:
		err = fmt.Errorf("there is no such setting of a training")
	}
	return err
}
