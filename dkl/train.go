package dkl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A TrainEnv is what training needs from its surroundings; the zero value is
// enough.
type TrainEnv struct {
	// Train runs a trainer to its end; nil runs its epochs.
	Train func(context.Context, *Trainer) error
	// Try is Train for trainings on parts of the examples, several concurrently,
	// that only serve a comparison; nil runs their epochs.
	Try func(context.Context, *Trainer) error
	// Say tells the user what was decided; nil means silence.
	Say func(message string, args ...any)
	// Views returns the augmented views of the rows of x; nil if there are none.
	Views func(x blas32.General) ([]blas32.General, error)
	// Backend computes large products; nil is gonum.
	Backend linalg.Backend
}

// Train trains a projection on a base session, through a tree with the given
// settings. Row i of x is an example of class y[i].
func Train(ctx context.Context, cfg Training, tree gptree.Config, env TrainEnv, x blas32.General,
	y []string) (Trained, error) {
	e := Examples{X: x, Y: y}
	if cfg.Views > 0 {
		if env.Views == nil {
			return Trained{}, fmt.Errorf("dkl: views: %d are requested, but there are no images to make them from; "+
				"set dkl.views to 0 or train on images", cfg.Views)
		}
		var err error
		if e.Views, err = env.Views(x); err != nil {
			return Trained{}, fmt.Errorf("dkl: views: %w", err)
		}
	}
	t, err := NewTrainer(cfg, tree, e, env.Backend)
	if err != nil {
		return Trained{}, err
	}
	run := env.Train
	if run == nil {
		run = runEpochs
	}
	if err := run(ctx, t); err != nil {
		return Trained{}, err
	}
	return t.Trained(), nil
}

func runEpochs(ctx context.Context, t *Trainer) error {
	for !t.Done() {
		if _, err := t.Epoch(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}
