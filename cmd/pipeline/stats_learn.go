package main

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// trainStats trains on a STATS file.
func (a *app) trainStats(ctx context.Context, file string) error {
	c := a.config
	if err := require([2]string{"out", c.Out}); err != nil {
		return err
	}
	if err := writable(c.Out); err != nil {
		return err
	}
	if err := a.onlyStats(); err != nil {
		return err
	}
	if c.Classifier.DKL.Enabled {
		return usagef("--dkl needs examples, which --stats does not have: give --images or --features")
	}
	s, err := classstats.Load(file)
	if err != nil {
		return err
	}
	settings := a.modelSettings()
	if settings.Backend, err = a.products(); err != nil {
		return err
	}
	m, outcome, err := model.TrainStats(ctx, settings, s)
	if err != nil {
		return err
	}
	if err := a.save(m, c.Out); err != nil {
		return err
	}
	a.sayOutcome("trained "+m.Method, m.Classes(), outcome)
	return nil
}

// learnStats adds a STATS file to a model.
func (a *app) learnStats(ctx context.Context, file, stats string) error {
	if err := a.onlyStats(); err != nil {
		return err
	}
	m, err := a.loadModel(file)
	if err != nil {
		return err
	}
	if err := writable(a.destination(file)); err != nil {
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
	if err := a.save(m, file); err != nil {
		return err
	}
	a.sayOutcome("learned", m.Classes(), outcome)
	return nil
}

// onlyStats returns a usage error if there is a second input besides --stats.
func (a *app) onlyStats() error {
	if c := a.config; c.Images != "" || c.List != "" || c.Features != "" {
		return usagef("--stats and --images, --list or --features are different inputs: give only one")
	}
	return nil
}
