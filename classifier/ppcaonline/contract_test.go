package ppcaonline_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
)

func config(change func(*ppcaonline.Config)) ppcaonline.Config {
	c := ppcaonline.DefaultConfig()
	change(&c)
	return c
}

func TestContract(t *testing.T) {
	for name, cfg := range map[string]ppcaonline.Config{
		"default":  ppcaonline.DefaultConfig(),
		"none":     config(func(c *ppcaonline.Config) { c.Policy = engine.None }),
		"class":    config(func(c *ppcaonline.Config) { c.Policy, c.RStep = engine.Class, engine.ByFisher }),
		"paper":    config(func(c *ppcaonline.Config) { c.Fisher, c.Q = engine.Paper, 3 }),
		"q=0":      config(func(c *ppcaonline.Config) { c.Q = 0 }),
		"raw":      config(func(c *ppcaonline.Config) { c.Normalize, c.Q = false, 2 }),
		"σ² given": config(func(c *ppcaonline.Config) { c.Sigma2, c.Floor = 0.02, 0.01 }),
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:     func() (classifier.Learner, error) { return ppcaonline.New(cfg) },
				Load:    func(s classifier.State) (classifier.Learner, error) { return ppcaonline.Load(s) },
				Ordered: true, Absolute: cfg.Sigma2 != 0,
			})
		})
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:     func() (classifier.Learner, error) { return ppcaonline.New(ppcaonline.DefaultConfig()) },
		Load:    func(s classifier.State) (classifier.Learner, error) { return ppcaonline.Load(s) },
		Ordered: true,
	})
}
