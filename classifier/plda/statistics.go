package plda

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/classifier/pseudo"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

var _ moments.Learner = (*PLDA)(nil)

// noExamples is why ε is the default.
const noExamples = "the base session was learned from statistics, which have no examples for pseudo-sessions"

// TakesUnit implements moments.Learner.
func (h *PLDA) TakesUnit() bool { return true }

// LearnMoments implements moments.Learner: O(Cd² + d³) for the base session,
// O(d²) a class afterwards. ε is 0.3 where it was left to pseudo-sessions. The
// only difference to the examples is that these were rounded to float32 after
// they were scaled to length 1.
func (h *PLDA) LearnMoments(ctx context.Context, classes []string, stats []*moments.Moments) error {
	names, sorted, err := moments.Session(classes, stats, h.Dim())
	if err != nil {
		return fmt.Errorf("plda: learn statistics: %w", err)
	}
	groups, totals := named(names), make([]moments.Total, len(names))
	for i, m := range sorted {
		old, _ := h.classes.Get(names[i])
		totals[i] = old.And(m.Total())
	}
	sp, choice := h.space, h.choice
	if sp == nil {
		if sp, choice, err = h.fitMoments(ctx, groups, totals, sorted); err != nil {
			return fmt.Errorf("plda: learn statistics: %w", err)
		}
	}
	if err := h.replace(sp, groups, totals); err != nil {
		return err
	}
	h.choice = choice
	return nil
}

// fitMoments is fitBase without the examples.
func (h *PLDA) fitMoments(ctx context.Context, groups []classifier.Group, totals []moments.Total, stats []*moments.Moments) (*space, *Choice, error) {
	d := stats[0].Dim()
	b := &basis{groups: groups, totals: totals, means: linalg.New64(len(totals), d)}
	for i, t := range totals {
		copy(b.means.Data[i*b.means.Stride:], t.Mean())
	}
	var err error
	if b.within, err = pooled(ctx, d, stats); err != nil {
		return nil, nil, err
	}
	epsilon, choice := h.cfg.Epsilon, (*Choice)(nil)
	if epsilon == Auto {
		epsilon = defaultEpsilon
		choice = &Choice{Value: epsilon, Config: pseudo.DefaultConfig(), Fallback: noExamples}
	}
	sp, err := b.space(epsilon)
	return sp, choice, err
}

// pooled is within from statistics.
func pooled(ctx context.Context, d int, stats []*moments.Moments) (blas64.General, error) {
	S, degrees := linalg.New64(d, d), 0
	for _, m := range stats {
		if err := ctx.Err(); err != nil {
			return S, err
		}
		if m.N() < 2 {
			continue
		}
		cov, err := m.Covariance()
		if err != nil {
			return S, err
		}
		for i, v := range cov.Data {
			S.Data[i] += float64(m.N()-1) * v
		}
		degrees += m.N() - 1
	}
	for i := range S.Data {
		S.Data[i] /= float64(max(degrees, 1))
	}
	return S, nil
}
