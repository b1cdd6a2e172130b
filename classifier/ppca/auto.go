package ppca

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

// A Choice is the λ that pseudo-sessions chose, with the scores of all
// candidates.
type Choice = episodes.Choice[float64]

// multiples of the within-class variance of a coordinate are what Auto chooses
// from. With few shots λ stands in for the components that are not known, so
// that the best is well above 1; with many it is near it.
func multiples() []float64 { return []float64{128, 64, 32, 16, 8, 4, 2, 1, 0.25} }

// Choice returns what Auto chose, nil before the base session and where λ was
// given.
func (h *PPCA) Choice() *Choice { return h.choice }

// chosen is the configuration with λ in place.
func (h *PPCA) chosen() Config {
	cfg := h.cfg
	if h.choice != nil {
		cfg.Lambda = h.choice.Value
	}
	return cfg
}

// choose returns the best λ for a base session.
func (h *PPCA) choose(ctx context.Context, x blas32.General, y []string) (*Choice, error) {
	cfg := episodes.DefaultConfig()
	candidates := h.candidates(x, y)
	if len(candidates) == 0 {
		return &Choice{Value: defaultLambda, Config: cfg, Fallback: "the spread within the classes of the base session is nothing, or nothing that a lambda of 1e-12 … 1e12 fits"}, nil
	}
	c, err := episodes.ChooseOr(ctx, x, y, cfg, candidates, defaultLambda, h.fitShared)
	return &c, err
}

// candidates are the multiples of tr(S)/d that can be a λ, S being pooled
// within the classes, divisor Σ(n−1).
func (h *PPCA) candidates(x blas32.General, y []string) []float64 {
	groups := classifier.GroupByClass(y)
	var sq float64
	for _, g := range groups {
		sq += h.scatter(x, g.Rows)
	}
	variance := sq / float64(max(1, x.Rows-len(groups))) / float64(x.Cols)
	var candidates []float64
	for _, m := range multiples() {
		if checkLambda(m*variance) == nil {
			candidates = append(candidates, m*variance)
		}
	}
	return candidates
}

// scatter returns the sum of squared distances from the mean.
func (h *PPCA) scatter(x blas32.General, rows []int) float64 {
	z := classifier.Placed(x, rows, *h.cfg.Normalize)
	mean := moments.Total{}.Plus(z)
	centre := mean.Mean()
	var sq float64
	for i, v := range z.Data {
		delta := v - centre[i%z.Cols]
		sq += delta * delta
	}
	return sq
}

// fitShared is a episodes.Fit: means and components are the same for all λ.
func (h *PPCA) fitShared(ctx context.Context, x blas32.General, y []string) (func(float64) (classifier.Learner, error), error) {
	cfg := h.cfg
	cfg.Lambda, cfg.Statistics = defaultLambda, false
	shared := &PPCA{cfg: cfg, mul: h.mul}
	if err := shared.Learn(ctx, x, y); err != nil {
		return nil, err
	}
	return func(lambda float64) (classifier.Learner, error) {
		head := *shared
		head.cfg.Lambda = lambda
		head.scorer = newScorer(head.mul, head.cfg, head.dim, head.classes.Values())
		return &head, nil
	}, nil
}

// checkChoice returns an error unless a saved choice belongs to the settings.
func checkChoice(cfg Config, c *Choice) error {
	if (cfg.Lambda == Auto) != (c != nil) {
		return fmt.Errorf("lambda %g of the configuration does not go with the recorded choice", cfg.Lambda)
	}
	if c == nil {
		return nil
	}
	if err := episodes.Valid(*c, checkLambda); err != nil {
		return fmt.Errorf("choice of lambda: %w", err)
	}
	return nil
}
