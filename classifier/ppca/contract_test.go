package ppca_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native/nativetest"
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
				Tolerance: 2e-5,                    // float32 components, squared and divided by λ
			})
		})
	}
}

// TestContractOnEachBackend: ONNX Runtime and OpenBLAS keep the contract too.
func TestContractOnEachBackend(t *testing.T) {
	nativetest.Each(t, func(t *testing.T, m linalg.Multiplier) {
		classifiertest.Run(t, classifiertest.Factory{
			New: func() (classifier.Learner, error) {
				h, err := ppca.New(ppca.DefaultConfig())
				if err == nil {
					h.UseMultiplier(m)
				}
				return h, err
			},
			Load: func(s classifier.State) (classifier.Learner, error) {
				h, err := ppca.Load(s)
				if err != nil {
					return nil, err
				}
				h.UseMultiplier(m)
				return h, nil
			},
			OrderFree: true,
			Tolerance: 2e-5,
		})
	})
}
