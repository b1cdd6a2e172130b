package shrinkage_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/shrinkage"
)

func config(cfg shrinkage.Config, change func(*shrinkage.Config)) shrinkage.Config {
	change(&cfg)
	return cfg
}

func TestContract(t *testing.T) {
	plus, eb := shrinkage.DefaultPLDAPlus(), shrinkage.DefaultPPCAEB()
	for name, c := range map[string]struct {
		method string
		cfg    shrinkage.Config
	}{
		"plda+":               {shrinkage.PLDAPlus, plus},
		"plda+ few splits":    {shrinkage.PLDAPlus, config(plus, func(c *shrinkage.Config) { c.Splits = 1 })},
		"ppca-eb":             {shrinkage.PPCAEB, eb},
		"ppca-eb given":       {shrinkage.PPCAEB, config(eb, func(c *shrinkage.Config) { c.Nu = 10 })},
		"ppca-eb student q=0": {shrinkage.PPCAEB, config(eb, func(c *shrinkage.Config) { c.Nu, c.Student, c.Q = 10, true, 0 })},
		"ppca-eb pooled":      {shrinkage.PPCAEB, config(eb, func(c *shrinkage.Config) { c.Nu = shrinkage.Pooled })},
		"ppca-eb certain":     {shrinkage.PPCAEB, config(eb, func(c *shrinkage.Config) { c.Nu, c.Uncertain = 3, false })},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return shrinkage.New(c.method, c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return shrinkage.Load(c.method, s) },
				Tolerance: 2e-6, // class covariances come from float32 rows, components are float32
			})
		})
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	cfg := config(shrinkage.DefaultPLDAPlus(), func(c *shrinkage.Config) { c.Nu, c.Calibrate = 10, false })
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return shrinkage.New(shrinkage.PLDAPlus, cfg) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return shrinkage.Load(shrinkage.PLDAPlus, s) },
		Tolerance: 2e-6,
	})
}
