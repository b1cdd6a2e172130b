package gptree

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// A Builder names how a tree over classes is built.
type Builder string

// The builders.
const (
	BuildKMeans        Builder = "kmeans"
	BuildRandom        Builder = "random-balanced"
	BuildStickBreaking Builder = "stick-breaking"
)

// A Base names a method of fitting the nodes of the base session.
type Base string

// The bases.
const (
	// BaseVI fits inducing inputs to any number of examples and stores them
	// instead.
	BaseVI Base = "vi"
	// BaseGibbs samples and stores every example.
	BaseGibbs Base = "gibbs"
)

// A Growth names a way in which later sessions change the tree (§3.4, Table 4).
type Growth string

// The growths.
const (
	// GrowShared puts a new root over the base tree and one tree of all novel
	// classes.
	GrowShared Growth = "shared-root"
	// GrowSession puts a new root over the existing tree and a tree of the
	// session's classes.
	GrowSession Growth = "session-tree"
	// GrowRebuild builds one tree over all classes from their stored rows.
	GrowRebuild Growth = "rebuild-tree"
)

// Bounds of the settings.
const (
	maxInducing = 1 << 12
	maxPerClass = 1 << 16
	maxBias     = 1e3
)

// Config holds the settings of the classifier.
type Config struct {
	// Tree is how trees over classes are built.
	Tree Builder `json:"tree" mapstructure:"tree"`
	// Kernel, Normalize and Lengthscale describe the kernel of every node.
	Kernel      kernel.Kind `json:"kernel" mapstructure:"kernel"`
	Normalize   bool        `json:"normalize" mapstructure:"normalize"`
	Lengthscale float64     `json:"lengthscale" mapstructure:"lengthscale"`
	// Outputscale is for VI nodes, GibbsOutputscale for Gibbs nodes.
	Outputscale      float64 `json:"outputscale" mapstructure:"outputscale"`
	GibbsOutputscale float64 `json:"gibbs_outputscale" mapstructure:"gibbs_outputscale"`
	// Mean is the prior mean of every node; MeanZero is the paper's.
	Mean Mean `json:"mean" mapstructure:"mean"`
	// MeanLength is η of the mean's head, which moves the lengths of class means
	// (gauss.Space.Length). It is not a key of the section: models written before there
	// was one go on without it.
	MeanLength float64 `json:"mean_length,omitempty" mapstructure:"-"`
	// Base is how the base session is fitted.
	Base Base `json:"base" mapstructure:"base"`
	// Inducing is the number of inducing inputs per base class; Iterations bounds
	// the steps of a VI node.
	Inducing   int `json:"inducing" mapstructure:"inducing"`
	Iterations int `json:"iterations" mapstructure:"iterations"`
	// Chains, Steps and ChainStart are the schedule of Gibbs nodes.
	Chains     int           `json:"chains" mapstructure:"chains"`
	Steps      int           `json:"steps" mapstructure:"steps"`
	ChainStart gp.ChainStart `json:"start,omitempty" mapstructure:"start"`
	// Prediction is how probabilities come from the latent function.
	Prediction gp.Prediction `json:"prediction" mapstructure:"prediction"`
	// Growth is how later sessions change the tree.
	Growth Growth `json:"growth" mapstructure:"growth"`
	// MaxPerClass bounds the number of examples per class in Gibbs nodes.
	MaxPerClass int `json:"max_per_class" mapstructure:"max_per_class"`
	// RootBias, in nats, is added to the log-odds of the novel side at every root
	// that a later session puts over the existing tree.
	RootBias float64 `json:"root_bias" mapstructure:"root_bias"`
	// RootLengthscale is the lengthscale of such roots; 0 means Lengthscale. Both
	// sides of a root are spread over many clusters, which a shorter lengthscale
	// separates.
	RootLengthscale float64 `json:"root_lengthscale" mapstructure:"root_lengthscale"`
	// Calibrate lets episodes inside the base session choose RootBias
	// and, unless the kernel is linear, RootLengthscale; both must then be 0, and
	// Growth GrowShared.
	Calibrate bool `json:"calibrate" mapstructure:"calibrate"`
	// Seed determines every draw. It is the seed of the run, not a separate key.
	Seed uint64 `json:"seed" mapstructure:"-"`
}

// DefaultConfig returns the few-shot settings of the paper (§C.3) around the mean of
// plda. The schedule is ours: ten chains of one step that start at the mean. The
// authors' program runs 30 chains of ten steps that start at draws from the prior.
func DefaultConfig() Config {
	s := gp.PaperSchedule()
	return Config{
		Tree: BuildKMeans, Kernel: kernel.RBF, Normalize: true, Lengthscale: 1, Outputscale: 4, GibbsOutputscale: 8,
		Mean: MeanPLDA, MeanLength: gauss.DefaultLength, Base: BaseVI, Inducing: 5, Iterations: 30, Chains: s.Chains,
		Steps: s.Steps, ChainStart: gp.AtMean,
		Prediction: gp.Quadrature, Growth: GrowShared, MaxPerClass: 30,
	}
}

// Validate names the field that is out of range.
func (c Config) Validate() error {
	if err := cmp.Or(
		setting.OneOf("tree", c.Tree, BuildKMeans, BuildRandom, BuildStickBreaking), setting.OneOf("base", c.Base,
			BaseVI, BaseGibbs), setting.OneOf("mean", c.Mean, MeanZero, MeanPLDA, MeanPLDAPlus),
		setting.OneOf("growth", c.Growth, GrowShared, GrowSession, GrowRebuild),
		setting.OneOf("kernel", c.Kernel, kernel.Kinds()...),
		c.kernel(c.Outputscale).Validate(),
	); err != nil {
		return err
	}
	if err := c.gibbsKernel().Validate(); err != nil {
		return fmt.Errorf("gibbs_%w", err)
	}
	if err := cmp.Or(
		c.schedule().Validate(), c.Prediction.Validate(),
		setting.Int("inducing", c.Inducing, 1, maxInducing), setting.Int("iterations", c.Iterations, 1, maxTries),
		setting.Int("max_per_class", c.MaxPerClass, 1, maxPerClass),
	); err != nil {
		return err
	}
	if !(c.RootBias >= -maxBias && c.RootBias <= maxBias) {
		return fmt.Errorf("root_bias: %g is outside ±%g", c.RootBias, float64(maxBias))
	}
	return c.validateRoot()
}

func (c Config) validateRoot() error {
	if c.RootLengthscale != 0 {
		if err := c.rootKernel().Validate(); err != nil {
			return fmt.Errorf("root_%w", err)
		}
		if c.Mean != MeanZero {
			return fmt.Errorf("root_lengthscale: with mean %s there is no kernel at the root; set 0, or mean to %s",
				c.Mean, MeanZero)
		}
		if c.Kernel == kernel.Linear {
			return fmt.Errorf("root_lengthscale: a linear kernel has no lengthscale besides its outputscale; set 0")
		}
	}
	given := c.RootBias != 0 || c.RootLengthscale != 0
	if c.Growth == GrowRebuild && (c.Calibrate || given) {
		return fmt.Errorf("root_bias: growth %s has no root between base and novel classes; set root_bias and "+
			"root_lengthscale to 0 and calibrate to false", c.Growth)
	}
	if c.Growth == GrowSession && c.Calibrate {
		return fmt.Errorf("calibrate: growth %s puts a root over every session, so a bias chosen for one root adds up "+
			"over several; set growth to %s, or set root_bias by hand", c.Growth, GrowShared)
	}
	if c.Calibrate && given {
		return fmt.Errorf("root_bias: %g and root_lengthscale: %g are set, but calibrate chooses them; set one or the "+
			"other", c.RootBias, c.RootLengthscale)
	}
	return nil
}

// kernel returns the kernel with the given outputscale.
func (c Config) kernel(outputscale float64) kernel.Kernel {
	return kernel.Kernel{Kind: c.Kernel, Normalize: c.Normalize, Lengthscale: c.Lengthscale, Outputscale: outputscale}
}

// gibbsKernel returns the kernel of Gibbs nodes, rootKernel that of the roots
// over sessions.
func (c Config) gibbsKernel() kernel.Kernel { return c.kernel(c.GibbsOutputscale) }

func (c Config) rootKernel() kernel.Kernel {
	k := c.gibbsKernel()
	k.Lengthscale = cmp.Or(c.RootLengthscale, c.Lengthscale)
	return k
}

func (c Config) schedule() gp.Schedule {
	return gp.Schedule{Chains: c.Chains, Steps: c.Steps, Start: c.ChainStart}
}
