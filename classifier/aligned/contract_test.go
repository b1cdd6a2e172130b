package aligned_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/aligned"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
)

func factory(cfg aligned.Config) classifiertest.Factory {
	return classifiertest.Factory{
		New:       func() (classifier.Learner, error) { return aligned.New(cfg) },
		Load:      func(s classifier.State) (classifier.Learner, error) { return aligned.Load(s) },
		Tolerance: 1e-5, // the regression on the examples multiplies in float32
	}
}

func TestContract(t *testing.T) {
	for name, cfg := range map[string]aligned.Config{
		"default":    aligned.DefaultConfig(),
		"base share": {Epsilon: 0.1, BaseShare: 0.9},
	} {
		t.Run(name, func(t *testing.T) { classifiertest.Run(t, factory(cfg)) })
	}
}

// TestContractOnEachBackend runs the contract on ONNX Runtime and OpenBLAS too.
func TestContractOnEachBackend(t *testing.T) {
	classifiertest.RunOnEachBackend(t, factory(aligned.DefaultConfig()))
}
