package plda

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
)

// A Choice is the ε that pseudo-sessions chose, with the scores of all
// candidates.
type Choice = episodes.Choice[float64]

// candidates are the values of ε that Auto chooses from.
func candidates() []float64 { return []float64{0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02} }

// Choice returns what Auto chose, nil before the base session and where ε was
// given.
func (h *PLDA) Choice() *Choice { return h.choice }

// choose returns the best ε for a base session.
func (h *PLDA) choose(ctx context.Context, x blas32.General, y []string) (*Choice, error) {
	c, err := episodes.ChooseOr(ctx, x, y, episodes.DefaultConfig(), candidates(), defaultEpsilon, h.fitShared)
	return &c, err
}

// fitShared is a episodes.Fit: S is the same for all ε.
func (h *PLDA) fitShared(ctx context.Context, x blas32.General, y []string) (func(float64) (classifier.Learner, error), error) {
	groups, totals := new(PLDA).extended(x, y)
	b, err := gauss.Fit(ctx, h.mul, x, groups, totals)
	if err != nil {
		return nil, err
	}
	return func(epsilon float64) (classifier.Learner, error) {
		sp, err := b.Space(epsilon)
		if err != nil {
			return nil, err
		}
		next := &PLDA{cfg: Config{Epsilon: epsilon}, mul: h.mul}
		return next, next.replace(sp, groups, totals)
	}, nil
}

// checkChoice returns an error unless a saved choice belongs to the settings.
func checkChoice(cfg Config, c *Choice) error {
	if cfg.auto() != (c != nil) {
		return fmt.Errorf("epsilon %g of the configuration does not go with the recorded choice", cfg.Epsilon)
	}
	if c == nil {
		return nil
	}
	if err := episodes.Valid(*c, checkEpsilon); err != nil {
		return fmt.Errorf("choice of epsilon: %w", err)
	}
	return nil
}
