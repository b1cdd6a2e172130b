package plda_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
)

func TestContract(t *testing.T) {
	for name, cfg := range map[string]plda.Config{"default": plda.DefaultConfig(), "fixed": {Epsilon: 0.3},
		"pooled": {Epsilon: 1e-3}, "round": {Epsilon: 1}, "auto": {Epsilon: plda.Auto}} {
		t.Run(name, func(t *testing.T) {
			classifiertest.Run(t, classifiertest.Factory{
				New:  func() (classifier.Learner, error) { return plda.New(cfg) },
				Load: func(s classifier.State) (classifier.Learner, error) { return plda.Load(s) },
			})
		})
	}
}

func TestContractOfLDA(t *testing.T) {
	classifiertest.Run(t, classifiertest.Factory{
		New:  func() (classifier.Learner, error) { return plda.New(plda.LDA()) },
		Load: func(s classifier.State) (classifier.Learner, error) { return plda.LoadLDA(s) },
	})
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	classifiertest.RunOnEachBackend(t, classifiertest.Factory{
		New:  func() (classifier.Learner, error) { return plda.New(plda.DefaultConfig()) },
		Load: func(s classifier.State) (classifier.Learner, error) { return plda.Load(s) },
	})
}
