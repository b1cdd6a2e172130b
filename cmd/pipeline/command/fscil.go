package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/fscil/benchmark"
	"github.com/seed-90d10d51/pipeline/research/fscil/figure"
	"github.com/seed-90d10d51/pipeline/research/table"
)

func newFSCIL() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fscil --config NAME --images DIR | --features FEATDIR --out DIR",
		Short: "Evaluate methods on few-shot class-incremental sessions",
		Long: `Learns a base session and then sessions of new classes, tests all classes so far
after each session, and writes results.json, details.json, table.md, table.csv,
figures and config.yaml. With several fscil.methods, the results of each method are
in a sub-folder, and the table and figures compare them. auto, the default, takes the
method that train would choose on the base session through all sessions.

Sessions come from the official lists (--lists, or pipeline datasets pull) or from
the columns split and session of --features, or are drawn at random
(fscil.protocol). No session returns to a class, so no statistics are stored.
Published results are shown only next to results on the same data set and track.
On official sessions fscil.runs repeats only the methods that draw random numbers.
The benchmarks are built-in configurations: miniimagenet_fscil, cub200_fscil,
cub200_table3, cifar100_fscil, wang_5steps, wang_10steps. Finished runs are saved: run the same
command again to resume.`,
		Example: "  pipeline fscil --config miniimagenet_fscil --images mini_imagenet --lists index_lists/mini_imagenet --out results",
		Args:    arguments,
		RunE:    command(func(ctx context.Context, a *app, _ []string) error { return a.fscil(ctx) }),
	}
	inputFlags(cmd, "images", "features")
	outFlag(cmd, "`folder` for the results")
	backboneFlag(cmd)
	cmd.Flags().String("lists", "", "`folder` of session_N.txt and test_N.txt")
	config.Bind(cmd.Flags(), "lists", "fscil.lists")
	cmd.Flags().String("classifier", method.Auto, "methods to compare, separated by commas: "+strings.Join(append(methodsWith[classifier.Learner](), method.Auto), ", "))
	config.Bind(cmd.Flags(), "classifier", "fscil.methods")
	dklFlags(cmd)
	return cmd
}

func (a *app) fscil(ctx context.Context) error {
	if err := a.readyForFSCIL(); err != nil {
		return err
	}
	if err := writableFolder(a.config.Out); err != nil {
		return err
	}
	images, err := a.samples(ctx)
	if err != nil {
		return err
	}
	images.trainings = a.trainings(filepath.Join(a.config.Out, "dkl"), true)
	benches, err := a.benches(images)
	if err != nil {
		return err
	}
	var outcomes []outcome
	for _, v := range a.variants() {
		o, err := a.measure(ctx, v, images, benches)
		if err != nil {
			return fmt.Errorf("fscil %s: %w", v.Name, err)
		}
		outcomes = append(outcomes, o)
	}
	if err := a.writeOutcomes(outcomes); err != nil {
		return err
	}
	a.sayOutcomes(outcomes)
	return nil
}

func (a *app) readyForFSCIL() error {
	c := &a.config
	c.Classifier.Statistics = false // no session returns to an old class
	if err := errors.Join(a.require([2]string{"out", c.Out}), a.withoutPrior("fscil")); err != nil {
		return err
	}
	switch {
	case c.Features != "" && c.Images != "":
		return usagef("--features and --images are two different inputs: give only one")
	case c.Features == "" && c.Images == "":
		return usagef("no input: give --images or --features")
	case c.List != "":
		return usagef("list is not used by fscil: give the folder of the sessions with --lists")
	case c.FSCIL.Protocol == fscil.Official && c.FSCIL.Lists == "" && c.Features == "":
		var err error
		c.FSCIL.Lists, err = a.pulledLists(c.FSCIL.Dataset)
		return err
	}
	return nil
}

// variants returns the heads to compare: fscil.methods (also set by --classifier)
// with the settings of classifier.…, then fscil.variants.
func (a *app) variants() []method.Variant {
	c := a.config.FSCIL
	var all []method.Variant
	for _, m := range c.Methods {
		all = append(all, method.Plain(m))
	}
	if all = append(all, c.Variants...); len(all) > 0 {
		return all
	}
	return []method.Variant{method.Plain(a.config.Classifier.Name)}
}

// benches returns the protocol of each run, bound to the embeddings.
func (a *app) benches(s *samples) ([]*fscil.Bench, error) {
	var benches []*fscil.Bench
	runs := a.config.FSCIL.Runs
	if a.config.FSCIL.Protocol == fscil.Official {
		runs = 1
	}
	for run := range runs {
		p, err := a.protocol(s, run)
		if err != nil {
			return nil, err
		}
		b, err := p.Bind(s.embeddings)
		if err != nil {
			return nil, err
		}
		benches = append(benches, b)
	}
	benches = slices.Repeat(benches, a.config.FSCIL.Runs/runs)
	a.warnOfOtherLists()
	if d := benches[0].Duplicates(); d.Any() {
		a.log.Warn("the published lists contain some images twice; the results are for the lists as published",
			"test_images_learned", d.TestLearned, "images_of_two_classes", d.TwoClasses,
			"training_images_of_two_sessions", d.LearnedBefore, "example", d.Example)
	}
	return benches, nil
}

// warnOfOtherLists warns when the data set is a benchmark's but the lists are not
// the published ones.
func (a *app) warnOfOtherLists() {
	c := a.config.FSCIL
	known, err := benchmark.Find(c.Dataset)
	if err == nil && c.Lists != "" && !known.Pulled(c.Lists) {
		a.log.Warn("these are not the published lists; the published rows of the table are not comparable", "lists", c.Lists, "dataset", c.Dataset)
	}
}

// An outcome is the result of one head.
type outcome struct {
	result  fscil.Result
	details fscil.Details
}

// measure evaluates one head in all runs.
func (a *app) measure(ctx context.Context, v method.Variant, s *samples, benches []*fscil.Bench) (outcome, error) {
	o := outcome{details: fscil.Details{Duplicates: benches[0].Duplicates()}}
	env, err := a.env()
	if err != nil {
		return o, err
	}
	trials, most, err := a.trials(v, benches)
	if err != nil {
		return o, err
	}
	var runs []fscil.Run
	for _, t := range trials {
		run, err := a.try(ctx, env, t, s)
		if err != nil {
			return o, err
		}
		runs = append(runs, run)
		o.details.Runs = append(o.details.Runs, t.bench.Detail(run))
	}
	o.result, err = fscil.Summarise(fscil.Info{
		Dataset: a.config.FSCIL.Benchmark(), Method: a.methodName(v.Name), Backbone: s.backbone, Track: a.track(s), MaxPerClass: most,
	}, runs)
	return o, err
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
func (a *app) trials(v method.Variant, benches []*fscil.Bench) (trials []trial, maxPerClass int, err error) {
	c := a.config.Classifier
	for i, b := range benches {
		t := trial{Variant: v, number: i + 1, seed: a.config.Seed, bench: b}
		if a.config.FSCIL.Protocol == fscil.Official {
			t.seed += uint64(i)
		}
		if t.settings, err = v.Settings(c.Heads(t.seed)); err != nil {
			return nil, 0, err
		}
		random, most, err := draws(v.Classifier, t.settings)
		if err != nil {
			return nil, 0, err
		}
		if maxPerClass = most; t.seed != a.config.Seed && !c.DKL.Enabled && !random {
			continue
		}
		trials = append(trials, t)
	}
	return trials, maxPerClass, nil
}

// try runs a trial with a fresh head. The run is saved, so that it need not be repeated.
func (a *app) try(ctx context.Context, env experiment.Env, t trial, s *samples) (fscil.Run, error) {
	c := a.config.Classifier
	part := fmt.Sprintf("%s_run%d", a.methodName(t.Name), t.number)
	of := []any{s.fingerprint, t.Classifier, t.settings, c.Tempered(), c.OldShare, c.DKL.Enabled, c.Training(t.seed), t.bench.Protocol()}
	return experiment.Part(ctx, env, part, of, func() (fscil.Run, error) {
		name, chosen := t.Classifier, ""
		if name == method.Auto {
			var err error
			if chosen, err = a.chosen(ctx, t, env.Backend); err != nil {
				return fscil.Run{}, err
			}
			name = chosen
		}
		fresh := func() (classifier.Learner, error) { return a.fresh(name, t.settings, t.seed, env.Backend, s) }
		run, err := t.bench.Run(ctx, fresh, func(m fscil.Measures) {
			a.log.Info("measured", "method", t.Name, "run", t.number, "session", m.Session, "classes", m.Classes, "accuracy", fmt.Sprintf("%.2f %%", 100*m.Accuracy))
		})
		run.Chosen = chosen
		return run, err
	})
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

// chosen returns the method that train would choose on the base session.
func (a *app) chosen(ctx context.Context, t trial, products linalg.Backend) (string, error) {
	x, y := t.bench.Train(0)
	m, _, err := model.Train(ctx, model.Settings{
		Method: method.Auto, Heads: t.settings, Seed: t.seed, Backend: products, WithoutStatistics: true, Comparing: a.comparing,
	}, model.Batch{X: x, Labels: y, Content: t.bench.Content(0)})
	if err != nil {
		return "", err
	}
	a.say("chose %s", m.Choice.Why)
	return m.Method, nil
}

// track returns the track that the user sets, or what is known of the backbone: the
// built-in one was trained on the base classes of mini-ImageNet, some of the
// catalogue on ImageNet, like those of the published rows on CUB-200. Of others it
// claims least.
func (a *app) track(s *samples) string {
	switch c := a.config.FSCIL; {
	case c.Track != fscil.TrackAuto:
		return c.Track
	case s.builtIn && c.Benchmark() == "mini_imagenet":
		return fscil.BaseOnly
	case (s.builtIn || s.imageNet) && c.Dataset == "cub200":
		return fscil.PretrainedDisjoint
	}
	return fscil.Foundation
}

// writeOutcomes writes everything that docs/formats.md describes for fscil --out:
// the results of each head, in a sub-folder if there are several heads, and the
// comparison of all heads.
func (a *app) writeOutcomes(outcomes []outcome) error {
	var results []fscil.Result
	for _, o := range outcomes {
		results = append(results, o.result)
		dir := a.config.Out
		if len(outcomes) > 1 {
			dir = filepath.Join(dir, o.result.Method)
		}
		one := experiment.Outcome{Results: o.result, Details: o.details, Figures: []chart.Figure{figure.Classes(o.result, o.details.Runs[0])}}
		if err := one.Write(dir, nil); err != nil {
			return err
		}
	}
	t, err := fscil.NewTable(results)
	if err != nil {
		return err
	}
	published, err := fscil.Published(results[0].Dataset, results[0].Track)
	if err != nil {
		return err
	}
	all := experiment.Outcome{
		Title: fmt.Sprintf("%s, track %s", results[0].Dataset, results[0].Track), Lead: fscil.TrackText(results[0].Track), Tables: []table.Table{t},
		Figures: figure.All(results, published),
	}
	settings, err := a.config.YAML()
	if err != nil {
		return err
	}
	return all.Write(a.config.Out, settings)
}

func (a *app) sayOutcomes(outcomes []outcome) {
	t := table.Table{Header: []string{"method", "first", "last", "average", "forgetting", "track"}}
	for _, o := range outcomes {
		r := o.result
		t.Add(r.Name(), table.Percent(r.Sessions[0].Accuracy), table.Percent(r.FinalAccuracy), table.Percent(r.AverageAccuracy), table.Percent(r.AverageForgetting), r.Track)
	}
	a.say("%s", t)
	a.say("table and figures are in %s", a.config.Out)
}
