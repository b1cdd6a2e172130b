package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
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
		RunE: command(func(ctx context.Context, w *workbench, _ []string) error {
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

func (w *workbench) train(ctx context.Context) error {
	if err := require([2]string{"out", w.config.Out}); err != nil {
		return err
	}
	settings := w.modelSettings()
	c, err := w.input(ctx, func() (*eye, error) {
		e, err := w.newEye()
		if err != nil {
			return nil, err
		}
		return e, w.rememberEye(&settings, e)
	})
	if err == nil {
		c, err = w.labelled(c)
	}
	if err == nil {
		err = rememberMeta(&settings, c.meta, c.X.Cols)
	}
	if err != nil {
		return err
	}
	products, err := w.products()
	if err != nil {
		return err
	}
	settings.Backend = products
	kept := w.checkpoint(w.config.Out)
	settings.Heads.Checkpoint = kept
	if err := w.trainProjection(ctx, &settings, c); err != nil {
		return err
	}
	m, outcome, err := model.Train(ctx, settings, c.Batch)
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
	return w.problemsOf(c, w.config.Out+".errors.csv")
}

func (w *workbench) modelSettings() model.Settings {
	c := w.config.Classifier
	return model.Settings{
		Method: c.Name, Heads: c.Heads(w.config.Seed), Temperature: c.Tempered(), WithoutStatistics: !c.Statistics,
		Seed: w.config.Seed, ToolVersion: version,
	}
}

func (w *workbench) rememberEye(s *model.Settings, e *eye) error {
	record, err := e.backboneRecord()
	if err != nil {
		return errors.Join(err, e.Close())
	}
	s.Backbone, s.Preprocess = record, &e.spec
	return nil
}

// rememberMeta takes the backbone of a feature folder from its meta.json, so
// that the model can label images later.
func rememberMeta(s *model.Settings, meta *dataset.Meta, d int) error {
	if meta == nil {
		return nil
	}
	if b := meta.Backbone; b.SHA256 != "" {
		s.Backbone = &model.Backbone{
			Name: b.Name, SHA256: b.SHA256, Path: b.Path, Dim: d,
			Extractor: meta.Extractor, ExtractorFingerprint: meta.ExtractorFingerprint,
		}
	}
	s.PreprocessFingerprint = meta.PreprocessFingerprint
	if len(meta.Preprocess) == 0 {
		return nil
	}
	spec, err := preprocess.ParseSpec(meta.Preprocess)
	if err != nil {
		return fmt.Errorf("meta.json: %w", err)
	}
	s.Preprocess = &spec
	return nil
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
		RunE: command(func(ctx context.Context, w *workbench, args []string) error {
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

func (w *workbench) learn(ctx context.Context, file string) error {
	m, err := w.loadModel(file)
	if err != nil {
		return err
	}
	c, err := w.input(ctx, func() (*eye, error) { return w.eyeOf(m) })
	if err == nil {
		c, err = w.labelled(c)
	}
	if err == nil {
		err = m.CheckBackbone(c.source())
	}
	if err != nil {
		return err
	}
	kept := w.checkpoint(w.destination(file))
	classifier.UseCheckpoint(m.Predictor.Head, kept)
	outcome, err := m.Learn(ctx, c.Batch)
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
	return w.problemsOf(c, w.destination(file)+".errors.csv")
}

// refresh makes the super-classes of a model anew where the configuration asks
// for it; a model whose own configuration does, has done so already.
func (w *workbench) refresh(ctx context.Context, m *model.Model) error {
	if m.Method != "hppca" || !method.Get[hppca.Config](w.config.Classifier.Methods, "hppca").Refresh {
		return nil
	}
	return m.Refresh(ctx)
}

// checkpoint keeps long trainings of a model's head until the model is saved, so
// that the same command goes on where it was stopped.
func (w *workbench) checkpoint(file string) *checkpoint.Folder {
	return &checkpoint.Folder{Dir: file + ".training", Restart: !w.config.Classifier.DKL.Resume, Say: w.log.Info}
}

// destination is --out, or the model itself.
func (w *workbench) destination(file string) string {
	if w.config.Out != "" {
		return w.config.Out
	}
	return file
}

func (w *workbench) save(m *model.Model, file string) error {
	return m.Save(w.destination(file))
}

func (w *workbench) sayOutcome(what string, o model.Outcome) {
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
