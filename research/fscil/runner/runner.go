package runner

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/fscil/benchmark"
	"github.com/seed-90d10d51/pipeline/research/training"
)

// A Runner holds what a benchmark depends on.
type Runner struct {
	// Sessions describes the sessions and the methods to compare. Method is measured
	// if it names none.
	Sessions fscil.Config
	Method   string
	// Images is a folder of images, Scan how its classes are read where no list names
	// them, and Embed how images become embeddings. Env.Features is used instead, if
	// it is given.
	Images string
	Scan   dataset.ScanOptions
	Embed  embedding.Options
	// Env has the results folder, the seed, the settings of the methods and the
	// backend. Env.Open is not used.
	Env         experiment.Env
	Temperature temperature.Config
	OldShare    model.OldShare
	// DKL puts a projection in front of every method, trained with the settings of
	// Training.
	DKL      bool
	Training dkl.Training
	Log      *slog.Logger
	// Say tells the user about a result.
	Say func(format string, args ...any)
	// Comparing is as in model.Settings.
	Comparing func(methods int) (step, finish func())

	// trainings trains projections, or loads those that another head of the same Run
	// trained.
	trainings dkl.TrainEnv
}

// Benches returns the protocol of each run, bound to the embeddings.
func (r Runner) Benches(s *Samples) ([]*fscil.Bench, error) {
	var benches []*fscil.Bench
	runs := r.Sessions.Runs
	if r.Sessions.Protocol == fscil.Official {
		runs = 1
	}
	for run := range runs {
		p, err := r.protocol(s, run)
		if err != nil {
			return nil, err
		}
		b, err := p.Bind(s.embeddings)
		if err != nil {
			return nil, err
		}
		benches = append(benches, b)
	}
	benches = slices.Repeat(benches, r.Sessions.Runs/runs)
	r.warnOfOtherLists()
	if d := benches[0].Duplicates(); d.Any() {
		r.Log.Warn("the published lists contain some images twice; the results are for the lists as published",
			"test_images_learned", d.TestLearned, "images_of_two_classes", d.TwoClasses,
			"training_images_of_two_sessions", d.LearnedBefore, "example", d.Example)
	}
	return benches, nil
}

// warnOfOtherLists warns when the data set is a benchmark's but the lists are not
// the published ones.
func (r Runner) warnOfOtherLists() {
	c := r.Sessions
	known, err := benchmark.Find(c.Dataset)
	if err == nil && c.Lists != "" && !known.Pulled(c.Lists) {
		r.Log.Warn("these are not the published lists; the published rows of the table are not comparable",
			"lists", c.Lists, "dataset", c.Dataset)
	}
}

// An Outcome is the result of one head.
type Outcome struct {
	Result  fscil.Result
	Details fscil.Details
}

// Run evaluates every head in all runs.
func (r Runner) Run(ctx context.Context, s *Samples, benches []*fscil.Bench) ([]Outcome, error) {
	r.trainings = training.Env(filepath.Join(r.Env.Dir, "dkl"), true, r.Env.Restart, r.Log.Info)
	r.trainings.Views = s.views
	var outcomes []Outcome
	for _, v := range r.variants() {
		o, err := r.measure(ctx, v, s, benches)
		if err != nil {
			return nil, fmt.Errorf("fscil %s: %w", v.Name, err)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// variants returns the heads to compare: the methods with their settings, then the
// variants with settings of their own.
func (r Runner) variants() []method.Variant {
	var all []method.Variant
	for _, m := range r.Sessions.Methods {
		all = append(all, method.Plain(m))
	}
	if all = append(all, r.Sessions.Variants...); len(all) > 0 {
		return all
	}
	return []method.Variant{method.Plain(r.Method)}
}

func (r Runner) measure(ctx context.Context, v method.Variant, s *Samples, benches []*fscil.Bench) (Outcome, error) {
	o := Outcome{Details: fscil.Details{Duplicates: benches[0].Duplicates()}}
	trials, most, err := r.trials(v, benches)
	if err != nil {
		return o, err
	}
	var runs []fscil.Run
	for _, t := range trials {
		run, err := r.try(ctx, t, s.fingerprint)
		if err != nil {
			return o, err
		}
		runs = append(runs, run)
		o.Details.Runs = append(o.Details.Runs, t.bench.Detail(run))
	}
	o.Result, err = fscil.Summarise(fscil.Info{
		Dataset: r.Sessions.Benchmark(), Method: r.methodName(v.Name),
		Backbone: s.backbone, Track: r.track(s), MaxPerClass: most,
	}, runs)
	return o, err
}

func (r Runner) methodName(method string) string {
	if r.DKL {
		return "dkl-" + method
	}
	return method
}

// track returns the track that the user sets, or what is known of the backbone: some were trained on
// the base classes of mini-ImageNet, some on ImageNet, like those of the published rows on CUB-200.
// Of others it claims least.
func (r Runner) track(s *Samples) string {
	switch c := r.Sessions; {
	case c.Track != fscil.TrackAuto:
		return c.Track
	case s.trainedOn == backbone.MiniImageNetBase && c.Benchmark() == "mini_imagenet":
		return fscil.BaseOnly
	case s.trainedOn != "" && c.Dataset == "cub200":
		return fscil.PretrainedDisjoint
	}
	return fscil.Foundation
}

// A trial is one run of a head, with a seed of its own.
type trial struct {
	method.Variant
	number   int // from 1
	seed     uint64
	settings method.Config
	bench    *fscil.Bench
}

// trials returns the runs of a head, and the most examples per class that it stores.
// On official sessions, runs differ by the seed of the head; one that draws nothing
// runs once.
func (r Runner) trials(v method.Variant, benches []*fscil.Bench) (trials []trial, maxPerClass int, err error) {
	for i, b := range benches {
		t := trial{Variant: v, number: i + 1, seed: r.Env.Seed, bench: b}
		if r.Sessions.Protocol == fscil.Official {
			t.seed += uint64(i)
		}
		if t.settings, err = v.Settings(r.Env.Heads.Seeded(t.seed)); err != nil {
			return nil, 0, err
		}
		random, most, err := draws(v.Classifier, t.settings)
		if err != nil {
			return nil, 0, err
		}
		if maxPerClass = most; t.seed != r.Env.Seed && !r.DKL && !random {
			continue
		}
		trials = append(trials, t)
	}
	return trials, maxPerClass, nil
}

// draws reports whether a method draws anything, and returns the most examples per
// class that it stores. method.Auto holds examples out at random, and compares methods
// that store none.
func draws(name string, c method.Config) (random bool, maxPerClass int, err error) {
	if name == method.Auto {
		return true, 0, nil
	}
	kind, err := method.Find(name)
	if err != nil {
		return false, 0, err
	}
	s := c.Settings(kind)
	return kind.Random(s), kind.MaxPerClass(s), nil
}

// try runs a trial with a fresh head on the embeddings with the given fingerprint. The
// run is saved, so that it need not be repeated.
func (r Runner) try(ctx context.Context, t trial, fingerprint string) (fscil.Run, error) {
	part := fmt.Sprintf("%s_run%d", r.methodName(t.Name), t.number)
	of := []any{fingerprint, t.Classifier, t.settings, r.Temperature, r.OldShare, r.DKL, r.training(t.seed),
		t.bench.Protocol()}
	return experiment.Part(ctx, r.Env, part, of, func() (fscil.Run, error) {
		name, chosen := t.Classifier, ""
		if name == method.Auto {
			var err error
			if chosen, err = r.chosen(ctx, t); err != nil {
				return fscil.Run{}, err
			}
			name = chosen
		}
		fresh := func() (classifier.Learner, error) { return r.fresh(name, t) }
		run, err := t.bench.Run(ctx, fresh, func(m fscil.Measures) {
			r.Log.Info("measured", "method", t.Name, "run", t.number, "session", m.Session, "classes", m.Classes,
				"accuracy", fmt.Sprintf("%.2f %%", 100*m.Accuracy))
		})
		run.Chosen = chosen
		return run, err
	})
}

func (r Runner) training(seed uint64) dkl.Training {
	t := r.Training
	t.Seed = seed
	return t
}

// chosen returns the method that train would choose on the base session.
func (r Runner) chosen(ctx context.Context, t trial) (string, error) {
	x, y := t.bench.Train(0)
	m, _, err := model.Train(ctx, model.Settings{
		Method: method.Auto, Heads: t.settings, Seed: t.seed,
		Backend: r.Env.Backend, WithoutStatistics: true, Comparing: r.Comparing,
	}, model.Batch{X: x, Labels: y, Content: t.bench.Content(0)})
	if err != nil {
		return "", err
	}
	r.Say("chose %s", m.Choice.Why)
	return m.Method, nil
}

// fresh returns an unfitted predictor. Methods share the projection when its base
// session and its settings are the same.
func (r Runner) fresh(name string, t trial) (*model.Predictor, error) {
	settings := model.Settings{
		Method: name, Heads: t.settings, Temperature: r.Temperature, OldShare: r.OldShare, Seed: t.seed,
		Backend: r.Env.Backend,
	}
	if r.DKL {
		projection := r.training(t.seed)
		settings.DKL, settings.Env = &projection, r.trainings
	}
	return model.NewPredictor(settings)
}
