package plda

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// A Choice is the ε chosen by pseudo-sessions, with the scores of all
// candidates.
type Choice = episodes.Choice[float64]

// candidates returns the values of ε that Auto chooses from.
func candidates() []float64 { return []float64{0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02} }

// Choice returns what Auto chose, nil before the base session and if ε was
// given.
func (h *PLDA) Choice() *Choice { return h.Model().Shared.Choice }

// fitShared returns an episodes.Fit: S is the same for all ε.
func fitShared(backend linalg.Backend) episodes.Fit[float64] {
	return func(ctx context.Context, x blas32.General, y []string) (func(float64) (classifier.Learner, error), error) {
		s, err := moments.NewSession(x, y, 0, true)
		if err != nil {
			return nil, err
		}
		totals := s.Totals()
		names, classes := make([]string, len(totals)), make([]class, len(totals))
		for i, t := range totals {
			names[i], classes[i] = s.Classes[i].Class, class{Total: t}
		}
		basis, err := gauss.Fit(ctx, backend, s, totals)
		if err != nil {
			return nil, err
		}
		return func(epsilon float64) (classifier.Learner, error) {
			cfg := Config{Epsilon: epsilon}
			next, err := New(cfg)
			if err != nil {
				return nil, err
			}
			return next, next.Update(func(m *model) error {
				m.Backend, m.Dim, m.Classes = backend, s.Dim, classifier.NewTable(names, classes)
				return m.Shared.set(cfg, basis, epsilon)
			})
		}, nil
	}
}
