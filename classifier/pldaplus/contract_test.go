package pldaplus_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
)

func config(cfg pldaplus.Config, change func(*pldaplus.Config)) pldaplus.Config {
	change(&cfg)
	return cfg
}

func TestContract(t *testing.T) {
	plus, eb := pldaplus.DefaultPLDAPlus(), pldaplus.DefaultPPCAEB()
	for name, c := range map[string]struct {
		method string
		cfg    pldaplus.Config
	}{
		"plda+":            {pldaplus.PLDAPlus, plus},
		"plda+ few splits": {pldaplus.PLDAPlus, config(plus, func(c *pldaplus.Config) { c.Splits = 1 })},
		"ppca-eb":          {pldaplus.PPCAEB, eb},
		"ppca-eb given":    {pldaplus.PPCAEB, config(eb, func(c *pldaplus.Config) { c.Nu = 10 })},
		"ppca-eb student q=0": {pldaplus.PPCAEB,
			config(eb, func(c *pldaplus.Config) { c.Nu, c.Student, c.Q = 10, true, 0 })},
		"ppca-eb pooled":  {pldaplus.PPCAEB, config(eb, func(c *pldaplus.Config) { c.Nu = pldaplus.Pooled })},
		"ppca-eb certain": {pldaplus.PPCAEB, config(eb, func(c *pldaplus.Config) { c.Nu, c.Uncertain = 3, false })},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return pldaplus.New(c.method, c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return pldaplus.Load(c.method, s) },
				Tolerance: 2e-6, // class covariances come from float32 rows, components are float32
			})
		})
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	cfg := config(pldaplus.DefaultPLDAPlus(), func(c *pldaplus.Config) { c.Nu, c.Calibrate = 10, false })
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return pldaplus.New(pldaplus.PLDAPlus, cfg) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return pldaplus.Load(pldaplus.PLDAPlus, s) },
		Tolerance: 2e-6,
	})
}
