package gpsoftmax_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
)

// short returns settings that run fast.
func short(change func(*gpsoftmax.Config)) gpsoftmax.Config {
	c := gpsoftmax.DefaultLSM()
	c.Chains, c.Steps, c.Draws = 3, 2, 8
	change(&c)
	return c
}

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		cfg    gpsoftmax.Config
	}{
		"lsm": {gpsoftmax.LSM, short(func(*gpsoftmax.Config) {})},
		"lsm, matérn, raw": {gpsoftmax.LSM,
			short(func(c *gpsoftmax.Config) { c.Kernel, c.Normalize, c.Lengthscale = kernel.Matern52, false, 4 })},
		"ove": {gpsoftmax.OVE, short(func(c *gpsoftmax.Config) { c.Chains = 2 })},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return gpsoftmax.New(c.method, c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return gpsoftmax.Load(c.method, s) },
				OrderFree: true,
			})
		})
	}
}
