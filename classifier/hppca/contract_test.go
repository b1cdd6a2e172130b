package hppca_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
)

func config(change func(*hppca.Config)) hppca.Config {
	c := hppca.DefaultConfig()
	change(&c)
	return c
}

func TestContract(t *testing.T) {
	for name, cfg := range map[string]hppca.Config{
		"default":   hppca.DefaultConfig(),
		"one visit": config(func(c *hppca.Config) { c.S, c.T = 3, 1 }),
		"refresh": config(func(c *hppca.Config) {
			c.S, c.T, c.Refresh, c.SeedDistance = 2, 1, true, hppca.SeedMean
		}),
		"raw":          config(func(c *hppca.Config) { c.S, c.T, c.Cluster = 2, 1, hppca.ClusterRaw }),
		"three levels": config(func(c *hppca.Config) { c.S, c.T, c.Levels, c.Gap = 3, 1, 3, 5 }),
		"paper":        config(func(c *hppca.Config) { c.Preset, c.Q, c.R, c.T = hppca.PresetPaper, 3, 0, 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return hppca.New(cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return hppca.Load(s) },
				OrderFree: cfg.Refresh, // otherwise the base session determines the super-classes
				Tolerance: 2e-5,        // float32 components, squared and divided by λ
			})
		})
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	cfg := config(func(c *hppca.Config) { c.S, c.T = 3, 1 })
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return hppca.New(cfg) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return hppca.Load(s) },
		Tolerance: 2e-5,
	})
}
