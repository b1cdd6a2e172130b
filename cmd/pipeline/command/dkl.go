package command

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/training"
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
	s.DKL, s.Env = &t, a.trainings(a.config.Out+".dkl", false)
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

// trainings returns functions that train projections and save their states in a
// folder, so that trainings can be resumed. Those that serve a comparison have
// sub-folders, and so have all if keyed.
func (a *app) trainings(dir string, keyed bool) dkl.TrainEnv {
	restart := !a.config.Classifier.DKL.Resume
	job := training.Job{Folder: &checkpoint.Folder{Dir: dir, Restart: restart, Say: a.log.Info}, Keyed: keyed}
	tries := training.Job{Folder: &checkpoint.Folder{Dir: filepath.Join(dir, "compared"), Restart: restart}, Keyed: true}
	return dkl.TrainEnv{Train: job.Train, Say: a.log.Info, Try: func(ctx context.Context, t *dkl.Trainer) error {
		err := tries.Train(ctx, t)
		if err == nil {
			a.log.Info("trained a projection on part of the images, to compare", "epochs", len(t.History()))
		}
		return err
	}}
}

// fresh returns an unfitted predictor for a benchmark. Methods share the
// projection when its base session and its settings are the same.
func (a *app) fresh(name string, settings method.Config, seed uint64, products linalg.Backend, data *samples) (*model.Predictor, error) {
	c := a.config.Classifier
	s := model.Settings{Method: name, Heads: settings, Temperature: c.Tempered(), OldShare: c.OldShare, Seed: seed, Backend: products}
	if c.DKL.Enabled {
		t := c.Training(seed)
		s.DKL, s.Env = &t, data.trainings
		s.Env.Views = data.views
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

// inspectProjection describes the projection in front of a head, if one was asked
// for.
func (a *app) inspectProjection(m *model.Model) {
	c, p := m.Predictor.Comparison, m.Predictor.Projection
	switch {
	case p != nil:
		kind := "linear"
		if h := p.Config().Hidden; h > 0 {
			kind = "with a hidden layer"
		}
		if p.Config().Residual {
			kind += ", residual"
		}
		a.say("projection %d values to %d, %s, trained on the base session (deep kernel learning)", p.In(), p.Dim(), kind)
	case c != nil:
		a.say("projection none: the one that was trained (deep kernel learning) did not pay")
	}
	if c != nil {
		a.say("           %s", c)
	}
}
