package gptree

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/pseudo"
)

// A Choice is the root bias that pseudo-sessions chose, with the scores of all
// candidates.
type Choice = pseudo.Choice[float64]

// candidates are the values of the root bias that calibration chooses from.
func candidates() []float64 { return []float64{-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2} }

// Choice returns what calibration chose, nil before the base session and where
// it was not asked for.
func (h *GPTree) Choice() *Choice { return h.choice }

// calibrate chooses the root bias on the base session: some classes stay out
// and come back with a few shots, and the sum of base and novel accuracy
// decides. The base tree of a split is fitted once for all candidates.
func (h *GPTree) calibrate(ctx context.Context, x blas32.General, y []string) error {
	cfg := h.cfg
	cfg.Calibrate = false
	fit := func(ctx context.Context, x blas32.General, y []string) (func(float64) (classifier.Learner, error), error) {
		base := &GPTree{cfg: cfg}
		if err := base.Learn(ctx, x, y); err != nil {
			return nil, err
		}
		return func(bias float64) (classifier.Learner, error) {
			head := *base
			head.all = base.all.Clone()
			head.cfg.RootBias = bias
			return &head, nil
		}, nil
	}
	c, err := pseudo.ChooseOr(ctx, x, y, pseudo.DefaultConfig(), candidates(), 0, fit)
	if err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	h.choice = &c
	return nil
}

// checkChoice returns an error unless a saved choice belongs to the settings.
func checkChoice(cfg Config, c *Choice) error {
	if cfg.Calibrate != (c != nil) {
		return fmt.Errorf("calibrate %v of the configuration does not go with the recorded choice", cfg.Calibrate)
	}
	if c == nil {
		return nil
	}
	valid := func(bias float64) error {
		cfg.Calibrate, cfg.RootBias = false, bias
		return cfg.Validate()
	}
	if err := pseudo.Valid(*c, valid); err != nil {
		return fmt.Errorf("choice of the root bias: %w", err)
	}
	return nil
}
