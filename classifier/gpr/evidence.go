package gpr

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	engine "github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Choice is the length-scale and noise chosen by the marginal likelihood of
// the base session.
type Choice struct {
	Lengthscale float64 `json:"lengthscale"`
	Noise       float64 `json:"noise"`
	// Examples is the number of examples used, as many of each class as possible.
	Examples int `json:"examples"`
	// Evidence holds the log marginal likelihoods of all candidates.
	Evidence []Evidence `json:"evidence"`
}

// Evidence is the log marginal likelihood of one candidate.
type Evidence struct {
	Lengthscale float64 `json:"lengthscale"`
	Noise       float64 `json:"noise"`
	// PerLabel is the log marginal likelihood at the best prior variance, in nats
	// for each of the n·C labels.
	PerLabel float64 `json:"per_label"`
}

// evidenceRows is the maximum number of examples that the evidence is computed
// on.
const evidenceRows = 512

// lengthscales returns the candidates in units of the root mean square distance
// of two examples, over √2: about 1 for embeddings of length 1.
func lengthscales() []float64 { return []float64{0.25, 0.35, 0.5, 0.7, 1, 1.4, 2} }

// noises returns the candidates for σ².
func noises() []float64 { return []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1} }

// Choice returns what Auto chose, nil before the base session and if both were
// given.
func (h *GPR) Choice() *Choice { return h.choice }

// choose returns the hyper-parameters for a base session.
func choose(ctx context.Context, cfg Config, products linalg.Backend, x blas32.General,
	groups []classifier.Group) (chosen, error) {
	c := chosen{lengthscale: cfg.Lengthscale, noise: cfg.Noise}
	if c.lengthscale != Auto && c.noise != Auto {
		return c, nil
	}
	z, t := evidenceData(cfg, x, groups)
	scale := linalg.Spread64(z)
	c.choice = &Choice{Examples: z.Rows}
	best := math.Inf(-1)
	for _, l := range candidates(cfg.Lengthscale, lengthscales(), scale, cfg.Kernel == Linear) {
		for _, noise := range candidates(cfg.Noise, noises(), 1, false) {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			e, err := evidence(ctx, chosen{lengthscale: l, noise: noise}, cfg, products, z, t)
			var singular *engine.NotPSDError
			if errors.As(err, &singular) {
				continue
			}
			if err != nil {
				return c, fmt.Errorf("marginal likelihood: %w", err)
			}
			c.choice.Evidence = append(c.choice.Evidence, Evidence{l, noise, e})
			if e > best {
				best, c.lengthscale, c.noise = e, l, noise
			}
		}
	}
	if len(c.choice.Evidence) == 0 {
		return c, errors.New("marginal likelihood: no candidate has a positive definite matrix: give " +
			"classifier.gpr.noise")
	}
	c.choice.Lengthscale, c.choice.Noise = c.lengthscale, c.noise
	return c, nil
}

// candidates returns the values to try for a setting: the given one, or all.
func candidates(given float64, values []float64, scale float64, unused bool) []float64 {
	if given != Auto {
		return []float64{given}
	}
	if unused {
		return []float64{defaultLengthscale}
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = min(max(v*scale, 1e-3), 1e6)
	}
	return out
}

// evidenceData returns the examples to use, as many of each class as fit, in an
// order that does not depend on that of the session, and their labels minus the
// mean of each class's labels: a constant that all classes share carries no
// information.
func evidenceData(cfg Config, x blas32.General, groups []classifier.Group) (z, t blas64.General) {
	perClass := max(1, evidenceRows/len(groups))
	var rows, columns []int
	for c, g := range groups {
		sorted := exemplars.Sorted(x, g.Rows)
		for _, r := range sorted[:min(perClass, len(sorted))] {
			rows, columns = append(rows, r), append(columns, c)
		}
	}
	rows, columns = rows[:min(len(rows), evidenceRows)], columns[:min(len(rows), evidenceRows)]
	t = labels(columns, 0, len(groups))
	dense.SubtractRow(t, dense.MeanRow(t))
	return classifier.Placed(x, rows, cfg.Normalize), t
}

// evidence returns the log marginal likelihood per label of s·(κ+σ²) at the
// best s, which is the mean of tᵀ(K+σ²I)⁻¹t over all labels; s changes no mean.
func evidence(ctx context.Context, c chosen, cfg Config, products linalg.Backend,
	z, t blas64.General) (float64, error) {
	r, err := c.unfitted(cfg, products)
	if err != nil {
		return 0, err
	}
	if err := r.Add(ctx, z, t); err != nil {
		return 0, err
	}
	n, alpha := float64(t.Rows), r.Alpha()
	var quad float64
	for i := range t.Rows {
		for c := range t.Cols {
			quad += dense.Row(t, i)[c] * dense.Row(alpha, c)[i]
		}
	}
	s := max(quad/(n*float64(t.Cols)), leastScale)
	// The rest of LogMarginalLikelihood is −½(log 2π + log|K+σ²I|/n).
	rest := (r.LogMarginalLikelihood() + quad/2) / (n * float64(t.Cols))
	return rest - math.Log(s)/2 - quad/(n*float64(t.Cols))/s/2, nil
}

// leastScale keeps labels that are all equal from having zero variance.
const leastScale = 1e-12
