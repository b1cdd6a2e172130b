package model

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/method"
)

// The contract asks for optional interfaces. These types have those of a
// Predictor that its head can serve; all heads here can be saved and forget.
type (
	forgetting struct {
		classifier.Learner
		classifier.Saver
		classifier.Forgetter
		classifier.SampleForgetter
	}
	exporting struct {
		forgetting
		classifier.Exporter
	}
	keeping struct {
		exporting
		classifier.StatisticsKeeper
	}
)

func asContract(p *Predictor, err error) (classifier.Learner, error) {
	if err != nil {
		return nil, err
	}
	able := forgetting{p, p, p, p}
	_, exports := p.Head.(classifier.Exporter)
	keeper, keeps := p.Head.(classifier.StatisticsKeeper)
	switch {
	case keeps:
		return keeping{exporting{able, p}, keeper}, nil
	case exports:
		return exporting{able, p}, nil
	}
	return able, nil
}

// contract runs the full contract on predictors with these settings.
func contract(t *testing.T, s Settings, f classifiertest.Factory) {
	s.Heads = method.Change(method.DefaultConfig(), "gptree", fewDraws)
	f.New = func() (classifier.Learner, error) { return asContract(NewPredictor(s)) }
	f.Load = func(state classifier.State) (classifier.Learner, error) {
		return asContract(loadPredictor(state,
			func(head classifier.State) (classifier.Learner, error) { return method.Load(s.Method, head) },
			func() (classifier.Learner, error) { return method.NewOn(s.Backend, s.Method, s.Heads) }))
	}
	f.Tolerance = 2e-5 // that of ppca
	classifiertest.Run(t, f)
}

func TestContractWithTemperature(t *testing.T) {
	for _, name := range []string{"ncm", "plda", "ppca"} {
		for setting, T := range map[string]float64{"auto": temperature.Auto, "given": 2.5} {
			t.Run(name+" "+setting, func(t *testing.T) {
				contract(t, Settings{Method: name, Temperature: temperature.Config{Temperature: T}},
					classifiertest.Factory{
						// like its head, unless the base session chooses T
						OrderFree: name == "ppca" && T != temperature.Auto,
					})
			})
		}
	}
}

func training() dkl.Training {
	t := dkl.DefaultTraining()
	t.Dim, t.Epochs, t.Pretrain, t.Steps, t.Batch, t.Inducing, t.Validation, t.Keep = 5, 2, 1, 0, 8, 2, 0,
		dkl.KeepAlways
	return t
}

func TestContractWithProjection(t *testing.T) {
	for _, c := range []struct {
		method      string
		temperature float64
		change      func(*dkl.Training)
	}{
		{"ncm", 1, func(*dkl.Training) {}},
		{"plda", temperature.Auto, func(t *dkl.Training) { t.Hidden, t.Residual = 6, true }},
		{"ppca", 1, func(t *dkl.Training) { t.Dim, t.Residual = 0, true }}, {"gptree", 1, func(*dkl.Training) {}},
		{"gpr", 1, func(*dkl.Training) {}},
	} {
		t.Run(c.method, func(t *testing.T) {
			cfg := training()
			c.change(&cfg)
			contract(t, Settings{Method: c.method, Temperature: temperature.Config{Temperature: c.temperature},
				DKL: &cfg}, classifiertest.Factory{
				FixedBase: c.method == "gptree",
			})
		})
	}
}
