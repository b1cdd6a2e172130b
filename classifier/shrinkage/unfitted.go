package shrinkage

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
)

var _ episodes.Unfitter = (*Head)(nil)

// Unfitted implements episodes.Unfitter: the setting is as this head chose it.
func (h *Head) Unfitted() (classifier.Learner, error) {
	next, err := New(h.method, h.cfg)
	if err != nil {
		return nil, err
	}
	next.choice, next.mul = h.choice, h.mul
	return next, nil
}
