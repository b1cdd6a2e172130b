package gptree_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gptree"
)

func config(change func(*gptree.Config)) gptree.Config {
	c := gptree.DefaultConfig()
	change(&c)
	return c
}

// paper is config with the paper's mean.
func paper(change func(*gptree.Config)) gptree.Config {
	return config(func(c *gptree.Config) { c.Mean = gptree.MeanZero; change(c) })
}

func gibbs(c *gptree.Config) { c.Base = gptree.BaseGibbs }

func TestContract(t *testing.T) {
	for name, cfg := range map[string]gptree.Config{
		"default":             gptree.DefaultConfig(),
		"mean, calibrated":    config(func(c *gptree.Config) { c.Calibrate = true }),
		"mean, gibbs":         config(gibbs),
		"mean, session trees": config(func(c *gptree.Config) { c.Growth = gptree.GrowSession }),
		"mean, rebuild":       config(func(c *gptree.Config) { c.Growth = gptree.GrowRebuild }),
		"mean, linear":        config(func(c *gptree.Config) { gibbs(c); c.Kernel = kernel.Linear }),
		"mean of plda+":       config(func(c *gptree.Config) { c.Mean = gptree.MeanPLDAPlus }),
		"zero":                paper(func(*gptree.Config) {}),
		"calibrated":          paper(func(c *gptree.Config) { c.Calibrate = true }),
		"gibbs":               paper(gibbs),
		"sbm":                 paper(func(c *gptree.Config) { gibbs(c); c.Tree = gptree.BuildStickBreaking }),
		"random":              paper(func(c *gptree.Config) { gibbs(c); c.Tree = gptree.BuildRandom }),
		"rebuild":             paper(func(c *gptree.Config) { gibbs(c); c.Growth = gptree.GrowRebuild }),
		"matérn, raw": paper(func(c *gptree.Config) {
			gibbs(c)
			c.Kernel, c.Normalize, c.Lengthscale = kernel.Matern52, false, 4
		}),
		"root":    paper(func(c *gptree.Config) { c.RootBias, c.RootLengthscale = -1, 0.5 }),
		"plug-in": paper(func(c *gptree.Config) { c.Prediction, c.RootBias = gp.PlugIn, 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, factory(cfg))
		})
	}
}

func factory(cfg gptree.Config) classifiertest.Factory {
	return classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return gptree.New(cfg) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return gptree.Load(s) },
		FixedBase: cfg.Base == gptree.BaseVI,
	}
}

// TestContractOnEachBackend: ONNX Runtime and OpenBLAS fulfil the contract too.
func TestContractOnEachBackend(t *testing.T) {
	classifiertest.RunOnEachBackend(t, factory(config(gibbs)))
}
