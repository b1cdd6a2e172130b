package projected_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/dkl/projected"
	"github.com/seed-90d10d51/pipeline/method"
)

func training() dkl.Training {
	t := dkl.DefaultTraining()
	t.Dim, t.Epochs, t.Pretrain, t.Batch, t.Inducing, t.Validation = 5, 2, 1, 8, 2, 0
	return t
}

func TestContract(t *testing.T) {
	for _, c := range []struct {
		method      string
		temperature float64
		change      func(*dkl.Training)
	}{
		{"ncm", 1, func(*dkl.Training) {}}, {"plda", temperature.Auto, func(t *dkl.Training) { t.Hidden, t.Residual = 6, true }},
		{"ppca", 1, func(t *dkl.Training) { t.Dim, t.Residual = 0, true }}, {"gptree", 1, func(*dkl.Training) {}}, {"gpr", 1, func(*dkl.Training) {}},
	} {
		t.Run(c.method, func(t *testing.T) {
			cfg := training()
			c.change(&cfg)
			classifiertest.Run(t, classifiertest.Factory{
				New: func() (classifier.Learner, error) {
					return method.Projected(c.method, method.DefaultConfig(), temperature.Config{Temperature: c.temperature}, cfg, projected.Gym{})
				},
				Load:      func(s classifier.State) (classifier.Learner, error) { return method.Load(c.method, s) },
				FixedBase: c.method == "gptree",
				Tolerance: 2e-5,
			})
		})
	}
}
