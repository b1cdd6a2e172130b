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
	cmd.Flags().Bool("dkl", false, "first train a projection of the embeddings on the base classes (deep kernel learning)")
	config.Bind(cmd.Flags(), "dkl", "classifier.dkl.enabled")
	resumeFlag(cmd)
}

func resumeFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("resume", true, "go on where a run was stopped; --resume=false starts over")
	config.Bind(cmd.Flags(), "resume", "classifier.dkl.resume")
}

// trainProjection asks for a projection in front of a model's head.
func (a *app) trainProjection(ctx context.Context, s *model.Settings, e embed.Embeddings) error {
	if !a.config.Classifier.DKL.Enabled {
		return nil
	}
	t := a.config.Classifier.Training(a.config.Seed)
	s.DKL, s.Env.Train = &t, a.training(a.config.Out+".dkl", false)
	if t.Views == 0 || a.config.Features != "" {
		return nil
	}
	images, err := a.source(ctx)
	if err != nil {
		return err
	}
	s.Env.Views = a.views(ctx, images.Root(), e)
	return nil
}

// training is a long job with its state in a folder.
func (a *app) training(dir string, keyed bool) func(context.Context, *dkl.Trainer) error {
	folder := &checkpoint.Folder{Dir: dir, Restart: !a.config.Classifier.DKL.Resume, Say: a.log.Info}
	return training.Job{Folder: folder, Keyed: keyed}.Train
}

// fresh returns an unfitted predictor for a benchmark. Methods share a projection
// that is trained on the same base session in the same way.
func (a *app) fresh(name string, settings method.Config, products linalg.Backend, data *samples) (*model.Predictor, error) {
	c := a.config.Classifier
	s := model.Settings{Method: name, Heads: settings, Temperature: c.Tempered(), Backend: products}
	if c.DKL.Enabled {
		t := c.Training(a.config.Seed)
		s.DKL, s.Env = &t, dkl.TrainEnv{Train: data.train, Views: data.views}
	}
	return model.NewPredictor(s)
}

// methodName is what tables call a method.
func (a *app) methodName(method string) string {
	if a.config.Classifier.DKL.Enabled {
		return "dkl-" + method
	}
	return method
}

// inspectProjection says what stands in front of a head.
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
