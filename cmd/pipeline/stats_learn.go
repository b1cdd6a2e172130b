package main

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// trainStats trains on a STATS file.
func (w *app) trainStats(ctx context.Context, file string) error {
	c := w.config
	if err := require([2]string{"out", c.Out}); err != nil {
		return err
	}
	if err := w.onlyStats(); err != nil {
		return err
	}
	if c.Classifier.DKL.Enabled {
		return usagef("--dkl needs examples, and --stats has none: give --images or --features")
	}
	s, err := classstats.Load(file)
	if err != nil {
		return err
	}
	m, outcome, err := model.TrainStats(ctx, w.modelSettings(), s)
	if err != nil {
		return err
	}
	if err := w.save(m, c.Out); err != nil {
		return err
	}
	w.sayOutcome("trained "+m.Method, outcome)
	return nil
}

// learnStats is learn with a STATS file.
func (w *app) learnStats(ctx context.Context, file, stats string) error {
	if err := w.onlyStats(); err != nil {
		return err
	}
	m, err := w.loadModel(file)
	if err != nil {
		return err
	}
	s, err := classstats.Load(stats)
	if err != nil {
		return err
	}
	outcome, err := m.LearnStats(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", stats, err)
	}
	if outcome.Changed() {
		m.ToolVersion = version
	}
	if err := w.save(m, file); err != nil {
		return err
	}
	w.sayOutcome("learned", outcome)
	return nil
}

// onlyStats refuses a second input.
func (w *app) onlyStats() error {
	if c := w.config; c.Images != "" || c.List != "" || c.Features != "" {
		return usagef("--stats and --images, --list or --features are different inputs: give one")
	}
	return nil
}
