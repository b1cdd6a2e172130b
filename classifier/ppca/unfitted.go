package ppca

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
)

var _ episodes.Unfitter = (*PPCA)(nil)

// Unfitted implements episodes.Unfitter: λ is as this head chose it, and no
// statistics are kept.
func (h *PPCA) Unfitted() (classifier.Learner, error) {
	cfg := h.chosen()
	cfg.Statistics = false
	head, err := New(cfg)
	if err != nil {
		return nil, err
	}
	head.mul = h.mul
	return head, nil
}
