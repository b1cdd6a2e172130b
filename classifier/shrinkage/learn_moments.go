package shrinkage

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

var _ moments.Learner = (*Head)(nil)

// TakesUnit implements moments.Learner.
func (h *Head) TakesUnit() bool { return true }

// LearnMoments implements moments.Learner. What pseudo-sessions would choose is
// then as where a base session is too small for them: no calibration, and ν
// infinite where it was not given.
func (h *Head) LearnMoments(ctx context.Context, classes []string, stats []*moments.Moments) error {
	next, err := h.learnedMoments(ctx, classes, stats)
	if err != nil {
		return fmt.Errorf("%s: learn statistics: %w", h.method, err)
	}
	*h = *next
	return nil
}

func (h *Head) learnedMoments(ctx context.Context, classes []string, stats []*moments.Moments) (*Head, error) {
	names, sorted, err := moments.Session(classes, stats, h.Dim())
	if err != nil {
		return nil, err
	}
	groups, totals := classifier.Named(names), make([]moments.Total, len(names))
	for i, m := range sorted {
		old, _ := h.classes.Get(names[i])
		totals[i] = old.And(m.Total())
	}
	next := *h
	if h.space == nil {
		if err := next.fitMoments(ctx, groups, totals, sorted); err != nil {
			return nil, err
		}
	}
	fitted, err := next.eachGroup(ctx, groups, func(i int, old class) (class, error) {
		return next.extend(old, totals[i], func(m *moments.Moments) error { return m.Merge(sorted[i]) })
	})
	if err != nil {
		return nil, err
	}
	return &next, next.replace(groups, fitted)
}

// fitMoments is fitBase without the examples.
func (h *Head) fitMoments(ctx context.Context, groups []classifier.Group, totals []moments.Total, stats []*moments.Moments) error {
	if h.cfg.chooses() {
		choice := h.cfg.fallback(episodes.NoExamples)
		h.choice = &choice
	}
	h.set()
	basis, err := gauss.FitMoments(ctx, h.mul, groups, totals, stats)
	if err != nil {
		return err
	}
	h.space, err = h.cfg.spaceOf(basis)
	return err
}
