package dkl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/method"
)

// Config holds what is measured. The settings of the methods are those under
// classifier.….
type Config struct {
	// Candidates are settings of training, such as "residual=true anchor=0.1";
	// the preset supplies the rest.
	Candidates []string `mapstructure:"candidates" json:"candidates"`
	// Splits is the number of pseudo-sessions used to choose among them.
	Splits int `mapstructure:"splits" json:"splits"`
	// ChooseBy are the methods used to choose, Methods those that are measured.
	ChooseBy []string `mapstructure:"choose_by" json:"choose_by"`
	Methods  []string `mapstructure:"methods" json:"methods"`
	// HeldOut is the number of training images per base class that are held out
	// for testing.
	HeldOut int `mapstructure:"held_out" json:"held_out"`
	// Seeds is the number of runs.
	Seeds int `mapstructure:"seeds" json:"seeds"`
}

// DefaultConfig returns candidates with a linear head and with residual ones.
func DefaultConfig() Config {
	return Config{
		Candidates: []string{"anchor=0.1", "anchor=1", "dim=512 anchor=0", "anchor=0.1 hand_over=true"},
		Splits:     2, ChooseBy: []string{"plda", "gptree"}, Methods: []string{"gptree", "plda+"}, HeldOut: 50,
		Seeds: 3,
	}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	if len(c.Candidates) == 0 {
		return fmt.Errorf("candidates: is empty; give at least one, such as dim=512")
	}
	for i, text := range c.Candidates {
		if _, err := parse(text); err != nil {
			return fmt.Errorf("candidates: %q: %w", text, err)
		}
		if slices.Contains(c.Candidates[:i], text) {
			return fmt.Errorf("candidates: %q occurs twice", text)
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
		setting.Int("splits", c.Splits, 1, 1000),
		setting.Int("held_out", c.HeldOut, 1, 1000),
		setting.Int("seeds", c.Seeds, 1, 1000),
	)
}

func parse(text string) (dkl.Training, error) {
	t := dkl.DefaultTraining()
	t.Keep = dkl.KeepAlways // what is measured is the projection
	settings := map[string]any{}
	for _, field := range strings.Fields(text) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return t, fmt.Errorf("%q is not key=value", field)
		}
		settings[key] = value
	}
	var read mapstructure.Metadata
	if err := mapstructure.WeakDecodeMetadata(settings, &t, &read); err != nil {
		return t, err
	}
	if len(read.Unused) > 0 {
		return t, fmt.Errorf("%s: there is no such setting of a training", slices.Min(read.Unused))
	}
	return t, t.Validate()
}
