package shrunk

import (
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/pseudo"
)

var _ pseudo.Unfitter = (*Head)(nil)

// Unfitted implements pseudo.Unfitter: the setting is as this head chose it.
func (h *Head) Unfitted() (classifier.Learner, error) {
	next, err := New(h.method, h.cfg)
	if err != nil {
		return nil, err
	}
	next.choice, next.mul = h.choice, h.mul
	return next, nil
}
