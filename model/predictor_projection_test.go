package model

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
)

// A projection that pays is kept, with the very training of one that is always
// kept; one that does not is left out, and the head is the one without.
func TestKeepsTheProjectionThatPays(t *testing.T) {
	x, y := blobs(6, 20, 8)
	stretched := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: slices.Clone(x.Data)}
	for i := range x.Rows { // one direction that tells nothing, in which all images differ most
		stretched.Data[i*8+7] *= 12
	}
	cfg := dkl.DefaultTraining()
	cfg.Preset = dkl.PresetWhiten
	alone := projecting(t, "ncm", 1, cfg, dkl.TrainEnv{})
	alone.dkl = nil
	for name, c := range map[string]struct {
		x    blas32.General
		keep bool
	}{"stretched": {stretched, true}, "round": {x, false}} {
		said := 0
		p := projecting(t, "ncm", 1, cfg, dkl.TrainEnv{Say: func(string, ...any) { said++ }})
		always := cfg
		always.Keep = dkl.KeepAlways
		other := projecting(t, "ncm", 1, always, dkl.TrainEnv{})
		if !c.keep {
			other = alone
		}
		for _, learner := range []*Predictor{p, other} {
			must.Do(t, learner.Learn(context.Background(), c.x, y))
		}
		if p.Comparison.Samples != 40 || p.Comparison.pays() != c.keep || (p.Projection != nil) != c.keep ||
			said != 1 {
			t.Errorf("%s: %v, said %d times", name, p.Comparison, said)
		}
		if c.keep && p.Calibration.Accuracy > p.Comparison.With {
			t.Errorf("%s: %g of photos are expected right, of those held out from the projection %g were", name,
				p.Calibration.Accuracy, p.Comparison.With)
		}
		want := classifiertest.LogProb(t, other, c.x).Data
		if !slices.Equal(classifiertest.LogProb(t, p, c.x).Data, want) {
			t.Errorf("%s: other answers", name)
		}
		s := must.Get(p.Save())(t)
		again := must.Get(loadPredictor(s,
			func(s classifier.State) (classifier.Learner, error) { return method.Load("ncm", s) }, p.fresh))(t)
		if !reflect.DeepEqual(again.Comparison, p.Comparison) ||
			!slices.Equal(classifiertest.LogProb(t, again, c.x).Data, want) {
			t.Errorf("%s: loaded %v", name, again.Comparison)
		}
	}
}

// A large base session is compared in pseudo-sessions, and one with a single
// example per class not at all.
func TestHowProjectionsAreCompared(t *testing.T) {
	for _, c := range []struct{ perClass, samples int }{
		{30, 3*6 + 2*25}, // three classes keep 80 %, of two all but five examples are asked about
		{1, 0},
	} {
		var tried atomic.Int32
		env := dkl.TrainEnv{Try: func(context.Context, *dkl.Trainer) error { tried.Add(1); return nil }}
		cfg := training()
		cfg.Keep = dkl.KeepEvidence
		p := projecting(t, "ncm", 1, cfg, env)
		x, y := blobs(5, c.perClass, 6)
		must.Do(t, p.Learn(context.Background(), x, y))
		if p.Comparison.Samples != c.samples || tried.Load() > 1 {
			t.Errorf("%d examples per class: %v, %d trainings", c.perClass, p.Comparison, tried.Load())
		}
	}
}

// TestEverySettingOfTrainingHasAnEffect changes each setting of classifier.dkl and
// checks that the model or its predictions change.
func TestEverySettingOfTrainingHasAnEffect(t *testing.T) {
	if testing.Short() {
		t.Skip("trains some fifty projections")
	}
	section := must.Get(classifier.Section(classifier.Settings{Config: dkl.DefaultTraining()}))(t)
	base := training()
	base.Dim, base.Validation, base.Epochs = 0, 0.2, 4 // residual, as by default
	for name, change := range map[string]func(*dkl.Training){
		"preset":        func(c *dkl.Training) { c.Preset = dkl.PresetCUB },
		"dim":           func(c *dkl.Training) { c.Dim = 5 },
		"hidden":        func(c *dkl.Training) { c.Hidden = 4 },
		"residual":      func(c *dkl.Training) { c.Hidden, c.Residual = 4, true },
		"whiten":        func(c *dkl.Training) { c.Whiten = true },
		"epochs":        func(c *dkl.Training) { c.Epochs = 2 },
		"pretrain":      func(c *dkl.Training) { c.Pretrain = 3 },
		"steps":         func(c *dkl.Training) { c.Steps = 20 },
		"batch":         func(c *dkl.Training) { c.Batch = 4 },
		"rate":          func(c *dkl.Training) { c.Rate = 0.05 },
		"weight_decay":  func(c *dkl.Training) { c.WeightDecay = 0.1 },
		"anchor":        func(c *dkl.Training) { c.Anchor = 3 },
		"natural_rate":  func(c *dkl.Training) { c.NaturalRate = 0.5 },
		"inducing":      func(c *dkl.Training) { c.Inducing = 1 },
		"validation":    func(c *dkl.Training) { c.Validation = 0.4 },
		"patience":      func(c *dkl.Training) { c.Patience = 1 },
		"hand_over":     func(c *dkl.Training) { c.HandOver = true },
		"keep":          func(c *dkl.Training) { c.Keep = dkl.KeepEvidence },
		"views":         func(c *dkl.Training) { c.Views = 1 },
		"unknown, seed": func(c *dkl.Training) { c.Seed++ },
	} {
		delete(section, name)
		t.Run(name, func(t *testing.T) {
			before := base
			switch name {
			case "residual":
				before.Hidden = 4
			case "patience":
				before.Epochs, before.Rate = 60, 0.05
			}
			after := before
			change(&after)
			if reflect.DeepEqual(answered(t, before), answered(t, after)) {
				t.Error("changes nothing")
			}
		})
	}
	if len(section) > 0 {
		t.Errorf("not tried: %v", slices.Sorted(maps.Keys(section)))
	}
}

// answered returns the predictions of a gptree behind a projection trained with
// some settings.
func answered(t *testing.T, cfg dkl.Training) []float64 {
	t.Helper()
	// the mean alone may decide
	heads := method.Change(method.DefaultConfig(), "gptree", func(c *gptree.Config) { c.Mean = gptree.MeanZero })
	p := must.Get(NewPredictor(Settings{Method: "gptree", Heads: heads, Temperature: temperature.Config{Temperature: 1},
		WithoutCalibration: true, DKL: &cfg, Env: dkl.TrainEnv{
			Views: func(x blas32.General) ([]blas32.General, error) {
				view := dense.New32(x.Rows, x.Cols)
				for i := range view.Data {
					view.Data[i] = x.Data[i] + 0.1*float32(i%3)
				}
				return []blas32.General{view}, nil
			},
		}}))(t)
	x, y := blobs(4, 12, 6)
	must.Do(t, p.Learn(context.Background(), x, y))
	return classifiertest.LogProb(t, p, x).Data
}
