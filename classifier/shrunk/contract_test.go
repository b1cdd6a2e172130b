package shrunk_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/shrunk"
)

func config(cfg shrunk.Config, change func(*shrunk.Config)) shrunk.Config {
	change(&cfg)
	return cfg
}

func TestContract(t *testing.T) {
	plus, eb := shrunk.DefaultPLDAPlus(), shrunk.DefaultPPCAEB()
	for name, c := range map[string]struct {
		method string
		cfg    shrunk.Config
	}{
		"plda+":               {shrunk.PLDAPlus, plus},
		"plda+ few splits":    {shrunk.PLDAPlus, config(plus, func(c *shrunk.Config) { c.Splits = 1 })},
		"ppca-eb":             {shrunk.PPCAEB, eb},
		"ppca-eb given":       {shrunk.PPCAEB, config(eb, func(c *shrunk.Config) { c.Nu = 10 })},
		"ppca-eb student q=0": {shrunk.PPCAEB, config(eb, func(c *shrunk.Config) { c.Nu, c.Student, c.Q = 10, true, 0 })},
		"ppca-eb pooled":      {shrunk.PPCAEB, config(eb, func(c *shrunk.Config) { c.Nu = shrunk.Pooled })},
		"ppca-eb certain":     {shrunk.PPCAEB, config(eb, func(c *shrunk.Config) { c.Nu, c.Uncertain = 3, false })},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return shrunk.New(c.method, c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return shrunk.Load(c.method, s) },
				Tolerance: 2e-6, // covariances of a class are of float32 rows, its components are float32
			})
		})
	}
}

// TestContractOnEachBackend: ONNX Runtime and OpenBLAS keep the contract too.
func TestContractOnEachBackend(t *testing.T) {
	cfg := config(shrunk.DefaultPLDAPlus(), func(c *shrunk.Config) { c.Nu, c.Calibrate = 10, false })
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return shrunk.New(shrunk.PLDAPlus, cfg) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return shrunk.Load(shrunk.PLDAPlus, s) },
		Tolerance: 2e-6,
	})
}
