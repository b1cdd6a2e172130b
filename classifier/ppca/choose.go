package ppca

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Choice is the λ chosen by pseudo-sessions, with the scores of all
// candidates.
type Choice = episodes.Choice[float64]

// multiples returns the candidates of Auto, in units of the within-class
// variance of a coordinate. With few shots λ stands in for the unknown
// components, so that the best multiple is well above 1; with many shots it is
// near 1.
func multiples() []float64 { return []float64{128, 64, 32, 16, 8, 4, 2, 1, 0.25} }

// Choice returns what Auto chose, nil before the base session and if λ was
// given.
func (h *PPCA) Choice() *Choice { return h.Model().Shared.Choice }

// Describe implements classifier.Describer.
func (h *PPCA) Describe() []classifier.Remark { return h.Choice().Describe("lambda", "%.4g") }

// chosen returns the configuration with λ filled in.
func (c Config) chosen(choice *Choice) Config {
	if choice != nil {
		c.Lambda = choice.Value
	}
	return c
}

// choose returns the best λ for a base session.
func (c Config) choose(ctx context.Context, backend linalg.Backend, s *moments.Session) (*Choice, error) {
	cfg, candidates := episodes.Seeded(c.Seed), c.candidates(s)
	if s.HasExamples() && len(candidates) == 0 {
		return &Choice{Value: defaultLambda, Config: cfg, Fallback: "the spread within the classes of the base " +
			"session is zero, or too small or too large for a lambda of 1e-12 … 1e12"}, nil
	}
	choice, err := episodes.ChooseOr(ctx, s.X, s.Y, cfg, candidates, defaultLambda, c.fitShared(backend))
	return &choice, err
}

// candidates returns the multiples of tr(S)/d that are valid as λ; S is pooled
// within the classes, with divisor Σ(n−1).
func (c Config) candidates(s *moments.Session) []float64 {
	var sq float64
	for _, e := range s.Classes {
		sq += e.Scatter()
	}
	variance := sq / float64(max(1, s.X.Rows-len(s.Classes))) / float64(s.Dim)
	var candidates []float64
	for _, m := range multiples() {
		if checkLambda(m*variance) == nil {
			candidates = append(candidates, m*variance)
		}
	}
	return candidates
}

// fitShared returns an episodes.Fit: means and components are the same for all λ.
func (c Config) fitShared(backend linalg.Backend) episodes.Fit[float64] {
	return func(ctx context.Context, x blas32.General, y []string) (func(float64) (classifier.Learner, error), error) {
		with := func(lambda float64) (*PPCA, error) {
			cfg := c
			cfg.Lambda, cfg.Statistics = lambda, false
			return New(cfg)
		}
		common, err := with(defaultLambda)
		if err != nil {
			return nil, err
		}
		common.UseBackend(backend)
		if err := common.Learn(ctx, x, y); err != nil {
			return nil, err
		}
		return func(lambda float64) (classifier.Learner, error) {
			head, err := with(lambda)
			if err != nil {
				return nil, err
			}
			return head, head.Update(func(m *model) error {
				*m = *common.Model().Clone()
				return nil
			})
		}, nil
	}
}
