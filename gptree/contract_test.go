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

func gibbs(c *gptree.Config) { c.Base = gptree.BaseGibbs }

func TestContract(t *testing.T) {
	for name, cfg := range map[string]gptree.Config{
		"default":     gptree.DefaultConfig(),
		"calibrated":  config(func(c *gptree.Config) { c.Calibrate = true }),
		"gibbs":       config(gibbs),
		"sbm":         config(func(c *gptree.Config) { gibbs(c); c.Tree = gptree.BuildStickBreaking }),
		"random":      config(func(c *gptree.Config) { gibbs(c); c.Tree = gptree.BuildRandom }),
		"rebuild":     config(func(c *gptree.Config) { gibbs(c); c.Growth = gptree.GrowRebuild }),
		"matérn, raw": config(func(c *gptree.Config) { gibbs(c); c.Kernel, c.Normalize, c.Lengthscale = kernel.Matern52, false, 4 }),
		"root":        config(func(c *gptree.Config) { c.RootBias, c.RootLengthscale = -1, 0.5 }),
		"plug-in":     config(func(c *gptree.Config) { c.Prediction, c.RootBias = gp.PlugIn, 1 }),
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
