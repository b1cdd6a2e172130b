// Package vargp trains VAR-GP and the variants it is compared with (Kapoor,
// Karaletsos and Bui 2021) on a sequence of tasks and tests all tasks after
// each one: Figs. 1, 3, 4, 5, 6, 7 and 9 and the ablations of Table 1.
//
//	data      tasks
//	toy       four classes in the plane, two at a time (Fig. 2), drawn by seed
//	features  embeddings of the first session of fscil.…, classes drawn by seed
//	split     images of IDX files (MNIST), their classes in order
//	permuted  all classes of IDX files in each task, with a different pixel order per task; the first task unchanged
//
// For one seed, every variant gets the same data. There are two protocols:
//
//   - own: only classes seen so far have a head; new classes get clones of the
//     head for "none of these" (package classifier/vargp). Training stops early
//     on examples of the task itself and ends with the parameters of the best
//     epoch.
//   - paper: the number of classes is known in advance and every class has a
//     head from the first task on. Training stops early, by Algorithm 1, on
//     validation examples of all tasks so far; S starts at I.
//
// Accuracy considers only the classes seen so far; images of others count as
// mistakes. Entropy is that of the mean softmax over all heads, divided by the
// logarithm of their number, so that the two protocols are comparable.
//
// Every finished task of every run is saved with its model, and within a task
// the training state every few epochs. An interrupted run resumes from there
// and gives the same bits.
//
// With search, random combinations of the rate, M and β are tried first (Table 2),
// by the images held out of the training images of the first run.
//
// With network, the kernel acts on the output of a network that every task
// trains (Fig. 8, appendix B.3).
//
// Cost: see gp/vargp. Runs share the cores. On two cores the toy takes a
// minute, features ten to twenty minutes, and Split MNIST with the paper's
// settings days.
package vargp

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/gp/vargp"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/experiment/vargp/internal/network"
)

// Sources of the tasks' data.
const (
	Toy      = "toy"
	Features = "features"
	Split    = "split"
	Permuted = "permuted"
)

// Protocols.
const (
	Own   = "own"
	Paper = "paper"
)

// Config holds the tasks, the variants and the settings of training.
type Config struct {
	// Data is "toy", "features", "split" or "permuted", Folder the folder of
	// IDX files.
	Data   string `mapstructure:"data" json:"data"`
	Folder string `mapstructure:"folder" json:"-"`
	// Tasks is the number of tasks, Classes the number in each; 0 means that
	// the data determine them (toy, split and permuted).
	Tasks   int `mapstructure:"tasks" json:"tasks"`
	Classes int `mapstructure:"classes" json:"classes"`
	// Train and Test are the most examples per class, 0 for all; Validation is
	// the share of the training examples that is held out.
	Train      int     `mapstructure:"train" json:"train"`
	Test       int     `mapstructure:"test" json:"test"`
	Validation float64 `mapstructure:"validation" json:"validation"`
	// Variants are the methods to compare, each with Seeds runs.
	Variants []vargp.Variant `mapstructure:"variants" json:"variants"`
	Seeds    int             `mapstructure:"seeds" json:"-"`
	// Inducing is M, the inducing inputs per task; Sweep lists further values
	// for the first variant (Fig. 9).
	Inducing int   `mapstructure:"inducing" json:"-"`
	Sweep    []int `mapstructure:"sweep" json:"-"`
	// Search chooses the rate, M and β before the runs.
	Search Search `mapstructure:"search" json:"-"`
	// Protocol is "own" or "paper".
	Protocol string `mapstructure:"protocol" json:"protocol"`
	// Normalize scales inputs to length 1. Lengthscale is the initial
	// length-scale; 0 means the spread of the first task, or with protocol "paper"
	// the 0.5 of the authors' program.
	Normalize   bool    `mapstructure:"normalize" json:"normalize"`
	Lengthscale float64 `mapstructure:"lengthscale" json:"lengthscale"`
	// Networks are the settings of the variants that are neural networks.
	Networks Networks `mapstructure:"networks" json:"-"`
	// Grid is the number of points per side of the toy's pictures.
	Grid int `mapstructure:"grid" json:"-"`
	// Checkpoint is the number of epochs between saves of the training state.
	Checkpoint int `mapstructure:"checkpoint" json:"-"`
	// Config holds the settings of the model; the variant, the protocol and the
	// seed of a run determine those that are not settings here.
	vargp.Config `mapstructure:",squash"`
}

// DefaultConfig returns the toy with the paper's M, all variants, five seeds.
func DefaultConfig() Config {
	d := vargp.DefaultConfig()
	d.Network, d.Epochs, d.Patience = []int{}, 500, 50
	d.Variant, d.Stopping, d.Start = "", "", "" // not settings here
	return Config{
		Data: Toy, Tasks: 2, Classes: 2, Train: 100, Test: 100, Validation: 0.1, Variants: vargp.Variants(), Seeds: 5,
		Inducing: 20, Sweep: []int{}, Protocol: Own, Grid: 60, Checkpoint: 20, Config: d,
		Networks: defaultNetworks(),
		Search:   Search{Rate: []float64{0.001, 0.01}, Inducing: []int{40, 200}, Beta: []float64{1, 10}},
	}
}

// Validate returns an error that names the first field out of range.
func (c Config) Validate() error {
	err := cmp.Or(
		setting.OneOf("data", c.Data, Toy, Features, Split, Permuted),
		setting.OneOf("protocol", c.Protocol, Own, Paper),
		setting.Int("tasks", c.Tasks, 1, 1000),
		setting.Int("classes", c.Classes, 1, 1000),
		setting.Int("train", c.Train, 0, 1<<24),
		setting.Int("test", c.Test, 0, 1<<24),
		setting.Int("seeds", c.Seeds, 1, 1000),
		setting.Int("inducing", c.Inducing, 1, 1<<12),
		setting.Int("grid", c.Grid, 2, 1000),
		setting.Int("checkpoint", c.Checkpoint, 1, 1e6),
		experiment.EachWithin("sweep", c.Sweep, 1, 1<<12),
		setting.Float("validation", c.Validation, 0, 0.9),
		c.Search.validate(),
		c.Networks.validate(),
	)
	if err != nil {
		return err
	}
	if c.Data == Toy && c.Tasks*c.Classes > len(clouds) {
		return fmt.Errorf("classes: the toy has at most %d in all, not %d", len(clouds), c.Tasks*c.Classes)
	}
	if c.Search.Draws > 0 && c.Validation == 0 {
		return fmt.Errorf("search: nothing is held out to choose by; set validation above 0, or search.draws to 0")
	}
	if c.Lengthscale != 0 && !(c.Lengthscale >= 1e-6 && c.Lengthscale <= 1e6) {
		return fmt.Errorf("lengthscale: %g is neither 0 (from the data) nor within 1e-6 … 1e6", c.Lengthscale)
	}
	known := vargp.Variants()
	for _, m := range network.Methods() {
		known = append(known, vargp.Variant(m))
	}
	if len(c.Variants) == 0 {
		return fmt.Errorf("variants: is empty; the values are %v", known)
	}
	if err := experiment.Each("variants", c.Variants, fmt.Sprintf("one of %v", known),
		func(v vargp.Variant) bool { return slices.Contains(known, v) }); err != nil {
		return err
	}
	if isNetwork(c.Variants[0]) && (len(c.Sweep) > 0 || c.Search.Draws > 0) {
		return fmt.Errorf("variants: the first one, %s, has no inducing inputs to vary: put it later, or empty sweep "+
			"and set search.draws to 0", c.Variants[0])
	}
	for _, v := range c.Variants {
		if isNetwork(v) {
			if len(c.Networks.strengths(v)) > 1 && c.Validation == 0 {
				return fmt.Errorf("networks.%s: nothing is held out to choose by; set validation above 0, or give one "+
					"strength", v)
			}
			continue
		}
		if err := c.model(v, 0).Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) model(v vargp.Variant, seed uint64) vargp.Config {
	m := c.Config
	m.Variant, m.Seed, m.Stopping, m.Start = v, seed, vargp.Best, vargp.FromPrior
	if c.Protocol == Paper {
		m.Stopping, m.Start = vargp.AsPaper, vargp.FromIdentity
	}
	return m
}

// classesInAll returns the number of classes after the last task.
func (c Config) classesInAll() int {
	if c.Data == Permuted {
		return c.Classes
	}
	return c.Tasks * c.Classes
}
