package plda

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
)

var _ episodes.Unfitter = (*PLDA)(nil)

// Unfitted implements episodes.Unfitter: ε is as this head chose it.
func (h *PLDA) Unfitted() (classifier.Learner, error) {
	cfg := h.cfg
	if h.choice != nil {
		cfg.Epsilon = h.choice.Value
	}
	next, err := New(cfg)
	if err == nil {
		next.UseBackend(h.mul)
	}
	return next, err
}
