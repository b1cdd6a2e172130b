package ncm_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
)

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		cfg       ncm.Config
		orderFree bool
	}{
		"cosine":            {ncm.DefaultConfig(), false}, // τ comes from the base session
		"cosine fixed":      {ncm.Config{Metric: ncm.Cosine, Temperature: 0.1}, true},
		"euclidean":         {ncm.Config{Metric: ncm.Euclidean}, false},
		"euclidean fixed":   {ncm.Config{Metric: ncm.Euclidean, Temperature: 2}, true},
		"euclidean smaller": {ncm.Config{Metric: ncm.Euclidean, Temperature: 1e-6}, true},
	} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:       func() (classifier.Learner, error) { return ncm.New(c.cfg) },
				Load:      func(s classifier.State) (classifier.Learner, error) { return ncm.Load(s) },
				OrderFree: c.orderFree,
			})
		})
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:  func() (classifier.Learner, error) { return ncm.New(ncm.DefaultConfig()) },
		Load: func(s classifier.State) (classifier.Learner, error) { return ncm.Load(s) },
	})
}
