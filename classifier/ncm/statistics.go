package ncm

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

var _ moments.Learner = (*NCM)(nil)

// TakesUnit implements moments.Learner.
func (h *NCM) TakesUnit() bool { return h.cfg.Metric == Cosine }

// LearnMoments implements moments.Learner in O(Cd). Statistics cannot leave one
// example out: a τ that is to be fitted is the default (DefaultTemperature). The
// only other difference to the examples is that these were rounded to float32
// after they were scaled to length 1.
func (h *NCM) LearnMoments(ctx context.Context, classes []string, stats []*moments.Moments) error {
	names, sorted, err := moments.Session(classes, stats, h.dim)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("ncm: learn statistics: %w", err)
	}
	next := h.next(sorted[0].Dim())
	for i, m := range sorted {
		old, _ := next.classes.Get(names[i])
		next.classes.Put(names[i], old.And(m.Total()))
	}
	next.derive(h.cfg)
	if next.tau == 0 {
		next.tau = defaultOf(h.cfg, &next, sorted)
	}
	h.model = next
	return nil
}

// defaultOf is defaultTemperature from statistics.
func defaultOf(cfg Config, m *model, stats []*moments.Moments) float64 {
	if cfg.Metric == Cosine {
		return DefaultTemperature
	}
	var sq float64
	n := 0
	for _, s := range stats {
		sq += s.Trace()
		for j, v := range s.Mean() {
			sq += float64(s.N()) * (v - m.centre[j]) * (v - m.centre[j])
		}
		n += s.N()
	}
	if sq == 0 {
		return 1
	}
	return DefaultTemperature * sq / float64(n)
}
