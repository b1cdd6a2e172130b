package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/training"
)

// dklFlags adds the flags of deep kernel learning.
func dklFlags(cmd *cobra.Command) {
	cmd.Flags().Bool("dkl", false,
		"first train a projection of the embeddings on the base classes (deep kernel learning)")
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
	s.DKL, s.Env = &t, training.Env(projectionFolder(a.config.Out), false, !a.config.Classifier.DKL.Resume, a.log.Info)
	if t.Views == 0 || a.config.Features != "" {
		return nil
	}
	images, err := a.inputs().source(ctx, toLearn)
	if err != nil {
		return err
	}
	s.Env.Views = e.Views(ctx, a.options(), images.Root(), t.Views)
	return nil
}

// projectionFolder returns the folder of the trainings of a model's projection.
func projectionFolder(model string) string { return model + ".dkl" }

// projection describes the projection in front of a head, if one was asked for.
func (l *lines) projection(m *model.Model) {
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
		l.add("projection %d values to %d, %s, trained on the base session (deep kernel learning)", p.In(), p.Dim(),
			kind)
	case c != nil:
		l.add("projection none: the one that was trained (deep kernel learning) did not pay")
	}
	if c != nil {
		l.add("           %s", c)
	}
}
