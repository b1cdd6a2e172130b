// Package kind lists all kinds of experiments and finds the one that a
// configuration names.
package kind

import (
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/ablation"
	"github.com/seed-90d10d51/pipeline/research/experiment/closedset"
	"github.com/seed-90d10d51/pipeline/research/experiment/dkl"
	"github.com/seed-90d10d51/pipeline/research/experiment/gpr"
	"github.com/seed-90d10d51/pipeline/research/experiment/hierarchy"
	"github.com/seed-90d10d51/pipeline/research/experiment/ppcaonline"
	"github.com/seed-90d10d51/pipeline/research/experiment/vargp"
)

// Config names the experiment to run and holds the settings of all kinds.
type Config struct {
	// Kind is one of Kinds, or "" for no experiment.
	Kind       string            `mapstructure:"kind" json:"kind"`
	Ablation   ablation.Config   `mapstructure:"ablation" json:"ablation"`
	ClosedSet  closedset.Config  `mapstructure:"closedset" json:"closedset"`
	DKL        dkl.Config        `mapstructure:"dkl" json:"dkl"`
	GPR        gpr.Config        `mapstructure:"gpr" json:"gpr"`
	Hierarchy  hierarchy.Config  `mapstructure:"hierarchy" json:"hierarchy"`
	PPCAOnline ppcaonline.Config `mapstructure:"ppca_online" json:"ppca_online"`
	VARGP      vargp.Config      `mapstructure:"vargp" json:"vargp"`
}

// DefaultConfig returns the default settings of every kind.
func DefaultConfig() Config {
	return Config{
		Ablation: ablation.DefaultConfig(), ClosedSet: closedset.DefaultConfig(), DKL: dkl.DefaultConfig(),
		GPR:       gpr.DefaultConfig(),
		Hierarchy: hierarchy.DefaultConfig(), PPCAOnline: ppcaonline.DefaultConfig(), VARGP: vargp.DefaultConfig(),
	}
}

// A Kind is one sort of experiment.
type Kind struct {
	Name, Summary string
	// Experiment is the kind with its settings.
	experiment.Experiment
}

// Kinds returns all kinds, sorted by name.
func (c Config) Kinds() []Kind {
	return []Kind{
		{"ablation", "accuracy of ppca by components, λ and input size (Wang 2023, Tables 3.2–3.4)", c.Ablation},
		{"closedset", "accuracy by number of classes, all learned at once, settings chosen on validation images " +
			"(Achituve 2021, Table 1, Fig. 4)", c.ClosedSet},
		{"dkl", "deep kernel learning on a frozen backbone: base classes and few-shot sessions, with and without " +
			"(Achituve 2021, Table 2 in shape)", c.DKL},
		{"gpr", "time and accuracy of incremental GP regression (Lütz 2011, Figs. 1–4)", c.GPR},
		{"hierarchy", "hppca against ppca, speed-up in neurons and by the clock (Wang 2023, Tables 5.1–5.7)",
			c.Hierarchy},
		{"ppca-online",
			"naturally constrained online EM on synthetic classes (Pamplona and Manzanera 2020, Figures 1–4)",
			c.PPCAOnline},
		{"vargp", "VAR-GP and its ablations, task by task (Kapoor 2021, Table 1, Figs. 1, 3–7 and 9)", c.VARGP},
	}
}

// Validate returns an error that names the kind and the field out of range.
func (c Config) Validate() error {
	if c.Kind != "" {
		if _, err := c.Find(); err != nil {
			return fmt.Errorf("kind: %w", err)
		}
	}
	for _, k := range c.Kinds() {
		if err := k.Validate(); err != nil {
			return fmt.Errorf("%s.%w", strings.ReplaceAll(k.Name, "-", "_"), err)
		}
	}
	return nil
}

// Find returns the kind that c names; the error names the nearest one and lists all.
func (c Config) Find() (Kind, error) {
	kinds := c.Kinds()
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if names[i] = k.Name; k.Name == c.Kind {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("unknown kind of experiment %q%s The kinds are %s", c.Kind,
		suggest.Sentence(c.Kind, names), strings.Join(names, ", "))
}
