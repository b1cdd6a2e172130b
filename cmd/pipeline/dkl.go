package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/eval/training"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// dklFlags adds the flags of deep kernel learning.
func dklFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("dkl", false, "train a projection of the embeddings on the base classes first (deep kernel learning)")
	config.Bind(cmd.Flags(), "dkl", "classifier.dkl.enabled")
	resumeFlag(cmd)
}

func resumeFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("resume", true, "resume a run that was stopped; --resume=false starts over")
	config.Bind(cmd.Flags(), "resume", "classifier.dkl.resume")
}

// trainProjection adds a projection to the settings of a model when --dkl asks
// for one.
func (a *app) trainProjection(ctx context.Context, s *model.Settings, e embed.Embeddings) error {
	if !a.config.Classifier.DKL.Enabled {
		return nil
	}
	t := a.config.Classifier.Training(a.config.Seed)
	s.DKL, s.Env.Train = &t, a.training(a.config.Out+".dkl", false)
	if t.Views == 0 || a.config.Features != "" {
		return nil
	}
	images, err := a.source(ctx, classes)
	if err != nil {
		return err
	}
	s.Env.Views = a.views(ctx, images.Root(), e)
	return nil
}

// training returns a function that trains a projection and saves its state in a
// folder, so that the training can be resumed.
func (a *app) training(dir string, keyed bool) func(context.Context, *dkl.Trainer) error {
	folder := &checkpoint.Folder{Dir: dir, Restart: !a.config.Classifier.DKL.Resume, Say: a.log.Info}
	return training.Job{Folder: folder, Keyed: keyed}.Train
}

// fresh returns an unfitted predictor for a benchmark. Methods share the
// projection when its base session and its settings are the same.
func (a *app) fresh(name string, settings method.Config, products linalg.Backend, data *samples) (*model.Predictor, error) {
	c := a.config.Classifier
	s := model.Settings{Method: name, Heads: settings, Temperature: c.Tempered(), Backend: products}
	if c.DKL.Enabled {
		t := c.Training(a.config.Seed)
		s.DKL, s.Env = &t, dkl.TrainEnv{Train: data.train, Views: data.views}
	}
	return model.NewPredictor(s)
}

// methodName returns the name of a method in tables.
func (a *app) methodName(method string) string {
	if a.config.Classifier.DKL.Enabled {
		return "dkl-" + method
	}
	return method
}

// inspectProjection describes the projection in front of a head, if there is one.
func (a *app) inspectProjection(m *model.Model) {
	p := m.Predictor.Projection
	if p == nil {
		return
	}
	kind := "linear"
	if h := p.Config().Hidden; h > 0 {
		kind = "with a hidden layer"
	}
	if p.Config().Residual {
		kind += ", residual"
	}
	a.say("projection %d values to %d, %s, trained on the base session (deep kernel learning)", p.In(), p.Dim(), kind)
}
