package gpr_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
)

func with(change func(*gpr.Config)) gpr.Config {
	c := gpr.DefaultConfig()
	change(&c)
	return c
}

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		cfg       gpr.Config
		orderFree bool
	}{
		"default":   {gpr.DefaultConfig(), true},
		"direct":    {with(func(c *gpr.Config) { c.Update = engine.Direct }), true},
		"iterative": {with(func(c *gpr.Config) { c.Update = engine.Iterative }), true},
		"raw":       {with(func(c *gpr.Config) { c.Normalize, c.Lengthscale = false, 5 }), true},
		"linear":    {with(func(c *gpr.Config) { c.Kernel = gpr.Linear }), true},
		"herd":      {with(func(c *gpr.Config) { c.OverCap, c.MaxPerClass = gpr.Herd, 25 }), true},
		"auto":      {with(func(c *gpr.Config) { c.Lengthscale, c.Noise = gpr.Auto, gpr.Auto }), false},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return gpr.New(c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return gpr.Load(s) },
				OrderFree: c.orderFree,
			})
		})
	}
}
