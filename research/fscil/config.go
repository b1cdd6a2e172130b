package fscil

import (
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/method"
)

// The protocols that a configuration can name.
const (
	// Official sessions come from index lists, or from the columns split and
	// session of a feature folder.
	Official = "official"
	// FewShotDrawn sessions are N-way K-shot, drawn by seed.
	FewShotDrawn = "few-shot"
	// Incremental sessions start with half of the classes, followed by equal
	// steps.
	Incremental = "class-incremental"
)

// The tracks: what a backbone had seen before the base session. Results of
// different tracks are never compared.
const (
	// BaseOnly backbones were trained on the base session alone.
	BaseOnly = "base-only"
	// PretrainedDisjoint backbones were trained on other images, of classes
	// other than the novel ones (ImageNet for CUB-200).
	PretrainedDisjoint = "pretrained-disjoint"
	// Foundation backbones have, or may have, seen the novel classes.
	Foundation = "foundation"
	// TrackAuto leaves the choice to the program.
	TrackAuto = "auto"
)

// Config describes a benchmark, without the heads' own settings.
type Config struct {
	// Dataset is the name in the results, by which published rows are found.
	// See Benchmark.
	Dataset string `mapstructure:"dataset" json:"dataset"`
	// Protocol is Official, FewShotDrawn or Incremental.
	Protocol string `mapstructure:"protocol" json:"protocol"`
	// Lists is the folder of session_N.txt and test_N.txt.
	Lists string `mapstructure:"lists" json:"lists"`
	// Strip is the number of leading folders of a listed path that the image
	// folder lacks; -1 means detect it.
	Strip int `mapstructure:"strip" json:"strip"`
	// BaseClasses, Ways and Shots shape few-shot sessions.
	BaseClasses int `mapstructure:"base_classes" json:"base_classes"`
	Ways        int `mapstructure:"ways" json:"ways"`
	Shots       int `mapstructure:"shots" json:"shots"`
	// Steps is the number of sessions after the first half of the classes.
	Steps int `mapstructure:"steps" json:"steps"`
	// TestPerClass images of every class are held out by seed when a protocol
	// is drawn; 0 means that the images themselves are marked as train or test.
	TestPerClass int `mapstructure:"test_per_class" json:"test_per_class"`
	// Runs is the number of draws: of the sessions or, where these are official, of
	// the random numbers of the methods that draw any.
	Runs int `mapstructure:"runs" json:"runs"`
	// Methods are the heads to compare; if empty, the classifier's name.
	Methods []string `mapstructure:"methods" json:"methods"`
	// Variants are heads with their own settings, compared with Methods.
	Variants []method.Variant `mapstructure:"variants" json:"variants"`
	// Track is one of the tracks, or TrackAuto.
	Track string `mapstructure:"track" json:"track"`
}

// DefaultConfig returns the official protocol with one run.
func DefaultConfig() Config {
	return Config{
		Dataset: "images", Protocol: Official, Strip: -1,
		BaseClasses: 60, Ways: 5, Shots: 5, Steps: 5, TestPerClass: 0,
		Runs: 1, Methods: []string{}, Variants: []method.Variant{}, Track: TrackAuto,
	}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	if c.Dataset == "" {
		return fmt.Errorf("dataset: is empty; it is the name in the results")
	}
	if err := setting.OneOf("protocol", c.Protocol, Official, FewShotDrawn, Incremental); err != nil {
		return err
	}
	if err := setting.OneOf("track", c.Track, TrackAuto, BaseOnly, PretrainedDisjoint, Foundation); err != nil {
		return err
	}
	for _, f := range []struct {
		name         string
		value, least int
	}{
		{"strip", c.Strip, -1}, {"base_classes", c.BaseClasses, 1}, {"ways", c.Ways, 1}, {"shots", c.Shots, 1},
		{"steps", c.Steps, 1}, {"test_per_class", c.TestPerClass, 0}, {"runs", c.Runs, 1},
	} {
		if f.value < f.least {
			return fmt.Errorf("%s: %d is less than %d", f.name, f.value, f.least)
		}
	}
	return c.validateTogether()
}

// Benchmark returns the data set's name, with the protocol's if it is not the
// official one: drawn sessions never share a table with official ones.
func (c Config) Benchmark() string {
	switch c.Protocol {
	case FewShotDrawn:
		return c.Dataset + "_drawn"
	case Incremental:
		return fmt.Sprintf("%s_%dsteps", c.Dataset, c.Steps)
	}
	return c.Dataset
}

func (c Config) validateTogether() error {
	if c.Protocol != Official && c.Lists != "" {
		return fmt.Errorf("lists: the protocol %s draws its sessions and reads no lists", c.Protocol)
	}
	for i, m := range c.Methods {
		if slices.Contains(c.Methods[:i], m) {
			return fmt.Errorf("methods: %q occurs twice", m)
		}
		if slices.ContainsFunc(c.Variants, func(v method.Variant) bool { return v.Name == m }) {
			return fmt.Errorf("variants: %q is also one of methods; give it another name", m)
		}
	}
	return nil
}
