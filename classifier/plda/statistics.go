package plda

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

var _ moments.Learner = (*PLDA)(nil)

// TakesUnit implements moments.Learner.
func (h *PLDA) TakesUnit() bool { return true }

// LearnMoments implements moments.Learner: O(Cd² + d³) for the base session,
// O(d²) a class afterwards. ε is 0.3 where it was left to pseudo-sessions. The
// only difference to the examples is that these were rounded to float32 after
// they were scaled to length 1.
func (h *PLDA) LearnMoments(ctx context.Context, classes []string, stats []*moments.Moments) error {
	names, sorted, err := moments.Session(classes, stats, h.Dim())
	if err != nil {
		return fmt.Errorf("%s: learn statistics: %w", h.cfg.method(), err)
	}
	groups, totals := classifier.Named(names), make([]moments.Total, len(names))
	for i, m := range sorted {
		old, _ := h.classes.Get(names[i])
		totals[i] = old.And(m.Total())
	}
	sp, choice := h.space, h.choice
	if sp == nil {
		if sp, choice, err = h.fitMoments(ctx, groups, totals, sorted); err != nil {
			return fmt.Errorf("%s: learn statistics: %w", h.cfg.method(), err)
		}
	}
	if err := h.replace(sp, groups, totals); err != nil {
		return err
	}
	h.choice = choice
	return nil
}

// fitMoments is fitBase without the examples.
func (h *PLDA) fitMoments(ctx context.Context, groups []classifier.Group, totals []moments.Total, stats []*moments.Moments) (*gauss.Space, *Choice, error) {
	b, err := gauss.FitMoments(ctx, h.mul, groups, totals, stats)
	if err != nil {
		return nil, nil, err
	}
	epsilon, choice := h.cfg.Epsilon, (*Choice)(nil)
	if h.cfg.auto() {
		epsilon = defaultEpsilon
		choice = &Choice{Value: epsilon, Config: episodes.DefaultConfig(), Fallback: episodes.NoExamples}
	}
	sp, err := h.cfg.space(b, epsilon)
	return sp, choice, err
}
