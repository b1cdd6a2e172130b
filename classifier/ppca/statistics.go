package ppca

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

var _ moments.Learner = (*PPCA)(nil)

// TakesUnit implements moments.Learner.
func (h *PPCA) TakesUnit() bool { return *h.cfg.Normalize }

// LearnMoments implements moments.Learner. λ is 0.01 where it was left to
// pseudo-sessions.
func (h *PPCA) LearnMoments(ctx context.Context, classes []string, stats []*moments.Moments) error {
	names, sorted, err := moments.Session(classes, stats, h.dim)
	if err != nil {
		return fmt.Errorf("ppca: learn statistics: %w", err)
	}
	groups := make([]classifier.Group, len(names))
	given := make(map[string]*moments.Moments, len(names))
	for i, name := range names {
		groups[i].Class, given[name] = name, sorted[i]
	}
	fitted, err := eachGroup(ctx, groups, func(g classifier.Group) (class, error) {
		return h.merge(g.Class, given[g.Class])
	})
	if err != nil {
		return fmt.Errorf("ppca: learn statistics: %w", err)
	}
	next := *h
	if h.scorer == nil && h.cfg.Lambda == Auto {
		next.choice = &Choice{Value: defaultLambda, Config: episodes.DefaultConfig(), Fallback: episodes.NoExamples}
	}
	if err := next.replace(sorted[0].Dim(), groups, fitted); err != nil {
		return err
	}
	*h = next
	return nil
}

// merge fits the class with statistics added.
func (h *PPCA) merge(name string, stats *moments.Moments) (class, error) {
	sum := stats.Clone()
	if old, ok := h.classes.Get(name); ok {
		if old.stats == nil {
			return class{}, ErrNoStatistics
		}
		sum = old.stats.Clone()
		if err := sum.Merge(stats); err != nil {
			return class{}, err
		}
	}
	sum.Use(h.mul)
	return h.fit(sum)
}
