package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

func newTrain() *cobra.Command {
	var stats string
	cmd := &cobra.Command{
		Use:   "train --images DIR | --features FEATDIR | --stats STATS --out MODEL",
		Short: "Learn the base classes",
		Long: `Trains a model on images in one folder per class (DIR/CLASS/IMAGE), or on
embeddings made before, or on statistics that pipeline stats collected, perhaps on
other machines. More classes come later, with pipeline learn.
--dkl first trains a projection of the embeddings on the base classes (classifier.dkl.…),
for any method. That is a long job: every epoch is kept in OUT.dkl, and the same command
goes on where it was stopped. So does --classifier vargp, whose trainings are kept in
OUT.training until the model is written.`,
		Example: "  pipeline train --images photos --classifier ncm --out photos.model",
		Args:    arguments(cobra.NoArgs),
		RunE: command(func(ctx context.Context, w *app, _ []string) error {
			if stats != "" {
				return w.trainStats(ctx, stats)
			}
			return w.train(ctx)
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	cmd.Flags().StringVar(&stats, "stats", "", "`file` of statistics made by pipeline stats")
	outFlag(cmd, "`file` for the model")
	backboneFlag(cmd)
	cmd.Flags().String("classifier", method.Default, "method: "+strings.Join(methodsWith[classifier.Learner](), ", "))
	config.Bind(cmd.Flags(), "classifier", "classifier.name")
	dklFlags(cmd)
	return cmd
}

// methodsWith lists the methods whose heads implement an optional interface.
func methodsWith[T any]() []string {
	var names []string
	for _, m := range method.Methods() {
		head, err := method.New(m.Name, method.DefaultConfig())
		if _, ok := head.(T); ok && err == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

func (w *app) train(ctx context.Context) error {
	if err := require([2]string{"out", w.config.Out}); err != nil {
		return err
	}
	e, err := w.labelled(ctx, nil)
	if err != nil {
		return err
	}
	settings := w.modelSettings()
	settings.Provenance = e.Provenance
	products, err := w.products()
	if err != nil {
		return err
	}
	settings.Backend = products
	kept := w.checkpoint(w.config.Out)
	settings.Heads.Checkpoint = kept
	if err := w.trainProjection(ctx, &settings, e); err != nil {
		return err
	}
	m, outcome, err := model.Train(ctx, settings, model.NewBatch(e))
	if err != nil {
		return err
	}
	if err := w.save(m, w.config.Out); err != nil {
		return err
	}
	if err := kept.Close(); err != nil {
		return err
	}
	w.sayOutcome("trained "+m.Method, outcome)
	return writeProblems(e.Outcome.Problems, w.config.Out+".errors.csv")
}

func (w *app) modelSettings() model.Settings {
	c := w.config.Classifier
	return model.Settings{
		Method: c.Name, Heads: c.Heads(w.config.Seed), Temperature: c.Tempered(), WithoutStatistics: !c.Statistics,
		Seed: w.config.Seed, ToolVersion: version,
	}
}

func newLearn() *cobra.Command {
	var stats string
	cmd := &cobra.Command{
		Use:   "learn MODEL --images DIR | --features FEATDIR | --stats STATS [--out MODEL2]",
		Short: "Learn new classes, or more images of old ones",
		Long: `Teaches a model one more session, from as little as one image a class, without
touching what it knows. Images that it has learned already change nothing, so an
interrupted session is simply learned again. A vargp model trains for every session; what
that came to is kept in OUT.training, and the same command goes on with it.

--stats takes what pipeline stats collected, perhaps on other machines: the model is
then that of the images behind them, which count once.

New classes of an hppca model join its super-classes as they are; with
--set classifier.hppca.refresh=true all super-classes are made anew.`,
		Example: "  pipeline learn photos.model --images new-classes",
		Args:    exactly(1),
		RunE: command(func(ctx context.Context, w *app, args []string) error {
			if stats != "" {
				return w.learnStats(ctx, args[0], stats)
			}
			return w.learn(ctx, args[0])
		}),
	}
	inputFlags(cmd, "images", "list", "features")
	cmd.Flags().StringVar(&stats, "stats", "", "`file` of statistics made by pipeline stats")
	outFlag(cmd, "`file` for the changed model (default: MODEL itself)")
	backboneFlag(cmd)
	return cmd
}

func (w *app) learn(ctx context.Context, file string) error {
	m, err := w.loadModel(file)
	if err != nil {
		return err
	}
	e, err := w.labelled(ctx, m)
	if err != nil {
		return err
	}
	kept := w.checkpoint(w.destination(file))
	classifier.UseCheckpoint(m.Predictor.Head, kept)
	outcome, err := m.Learn(ctx, model.NewBatch(e))
	if err == nil {
		err = w.refresh(ctx, m)
	}
	if err != nil {
		return err
	}
	if outcome.Changed() {
		m.ToolVersion = version
	}
	if err := w.save(m, file); err != nil {
		return err
	}
	if err := kept.Close(); err != nil {
		return err
	}
	w.sayOutcome("learned", outcome)
	return writeProblems(e.Outcome.Problems, w.destination(file)+".errors.csv")
}

// refresh makes the super-classes of a model anew where the configuration asks
// for it; a model whose own configuration does, has done so already.
func (w *app) refresh(ctx context.Context, m *model.Model) error {
	if m.Method != "hppca" || !method.Get[hppca.Config](w.config.Classifier.Methods, "hppca").Refresh {
		return nil
	}
	return m.Refresh(ctx)
}

// checkpoint keeps long trainings of a model's head until the model is saved, so
// that the same command goes on where it was stopped.
func (w *app) checkpoint(file string) *checkpoint.Folder {
	return &checkpoint.Folder{Dir: file + ".training", Restart: !w.config.Classifier.DKL.Resume, Say: w.log.Info}
}

// destination is --out, or the model itself.
func (w *app) destination(file string) string {
	if w.config.Out != "" {
		return w.config.Out
	}
	return file
}

func (w *app) save(m *model.Model, file string) error {
	return m.Save(w.destination(file))
}

func (w *app) sayOutcome(what string, o model.Outcome) {
	w.say("%s: %d samples, %d new classes", what, o.Added, len(o.NewClasses))
	if len(o.MoreOf) > 0 {
		w.say("more samples of %s", strings.Join(o.MoreOf, ", "))
	}
	if n := o.AlreadyKnown + o.Duplicates; n > 0 {
		w.say("%d samples were known already or occur twice; they count once", n)
	}
	for _, c := range o.Conflicts {
		w.log.Warn("one image is learned under several labels", "image", c.Path, "labels", strings.Join(c.Labels, ", "))
	}
}
