package ppca_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
)

func config(change func(*ppca.Config)) ppca.Config {
	c := ppca.DefaultConfig()
	change(&c)
	return c
}

func TestContract(t *testing.T) {
	for name, cfg := range map[string]ppca.Config{
		"default": ppca.DefaultConfig(),
		"paper":   config(func(c *ppca.Config) { c.Preset = ppca.PresetPaper }),
		"q=0":     config(func(c *ppca.Config) { c.Q = 0 }),
		"q=3":     config(func(c *ppca.Config) { c.Q, c.Lambda = 3, 0.1 }),
		"auto":    config(func(c *ppca.Config) { c.Lambda = ppca.Auto }),
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return ppca.New(cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return ppca.Load(s) },
				OrderFree: cfg.Lambda != ppca.Auto, // the base session chooses
				Absolute:  cfg.Preset == ppca.PresetPaper,
				Tolerance: 2e-5, // float32 components, squared and divided by λ
			})
		})
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return ppca.New(ppca.DefaultConfig()) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return ppca.Load(s) },
		OrderFree: true,
		Tolerance: 2e-5,
	})
}
