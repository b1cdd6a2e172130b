package gpc_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/gpc"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
)

// short returns settings that run fast.
func short(change func(*gpc.Config)) gpc.Config {
	c := gpc.DefaultLSM()
	c.Chains, c.Steps, c.Draws = 3, 2, 8
	change(&c)
	return c
}

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		cfg    gpc.Config
	}{
		"lsm":              {gpc.LSM, short(func(*gpc.Config) {})},
		"lsm, matérn, raw": {gpc.LSM, short(func(c *gpc.Config) { c.Kernel, c.Normalize, c.Lengthscale = kernel.Matern52, false, 4 })},
		"ove":              {gpc.OVE, short(func(c *gpc.Config) { c.Chains = 2 })},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return gpc.New(c.method, c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return gpc.Load(c.method, s) },
				OrderFree: true,
			})
		})
	}
}
