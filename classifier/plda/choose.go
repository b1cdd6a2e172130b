package plda

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
)

// A Choice is the chosen ε, with the scores of the candidates.
type Choice = episodes.Choice[float64]

// unpaired is the ε of a session with fewer pairs of examples than classes.
const unpaired = 0.7

// choose chooses ε for a base session (package comment).
func (c Config) choose(ctx context.Context, s *moments.Session, basis *gauss.Basis,
	fit episodes.Fit[float64]) (Choice, error) {
	switch {
	case c.leavesOut() && basis.MostExamples() <= gauss.MostLeftOut:
		return leaveOut(ctx, s, basis)
	case c.Epsilon != Auto:
		return Choice{Value: c.Epsilon, Fallback: "images are left out only if no class has more than 20"}, nil
	}
	return episodes.ChooseOr(ctx, s.X, s.Y, episodes.Seeded(c.Seed), candidates(), defaultEpsilon, fit)
}

// leaveOut chooses ε by leaving single examples out of a small base session.
func leaveOut(ctx context.Context, s *moments.Session, basis *gauss.Basis) (Choice, error) {
	left := basis.LeaveOut(s)
	if left == nil {
		c := Choice{Value: unpaired, Fallback: "too few images of the same class"}
		if chosen := basis.PriorEpsilon(); chosen > 0 {
			c.Value, c.Fallback = chosen, c.Fallback+"; the prior's"
		}
		return c, nil
	}
	trials, value, err := left.Choose(ctx)
	if err != nil {
		return Choice{}, err
	}
	c := Choice{Value: value, LeftOut: left.Len()}
	for _, t := range trials {
		c.Scores = append(c.Scores, episodes.Score[float64]{Candidate: t.Epsilon, Mean: t.Accuracy, NLL: t.NLL})
	}
	return c, nil
}

// candidates returns the values of ε that pseudo-sessions choose from.
func candidates() []float64 { return []float64{0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02} }

// Choice returns what Auto chose, nil before the base session and if ε was
// given.
func (h *PLDA) Choice() *Choice { return h.Model().Shared.Choice }

// Describe implements classifier.Describer.
func (h *PLDA) Describe() []classifier.Remark { return h.Choice().Describe("epsilon", "%.4g") }

// fitShared returns an episodes.Fit: S is the same for all ε.
func (h *PLDA) fitShared(like *model) episodes.Fit[float64] {
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
		basis, err := gauss.Fit(ctx, like.Backend, s, totals)
		if err == nil && h.Start.Prior != nil {
			basis, err = basis.With(h.Start.Prior, like.Shared.PriorWeight)
		}
		if err != nil {
			return nil, err
		}
		return func(epsilon float64) (classifier.Learner, error) {
			cfg := Config{Epsilon: epsilon, MeanLength: h.cfg.MeanLength}
			next, err := made(cfg)
			if err != nil {
				return nil, err
			}
			return next, next.Update(func(m *model) error {
				m.Backend, m.Dim, m.Classes = like.Backend, s.Dim, classifier.NewTable(names, classes)
				return m.Shared.set(cfg, basis, epsilon)
			})
		}, nil
	}
}
