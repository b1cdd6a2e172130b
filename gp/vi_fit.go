package gp

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Fit takes steps of rate 1 on all examples, which is coordinate ascent: the
// bound never falls. It stops after most steps, or when a step gains less than
// tolerance nats per example, and returns the bounds before every step and after
// the last. It checks ctx before each step.
func (v *VI) Fit(ctx context.Context, all *Batch, most int, tolerance float64) ([]float64, error) {
	var bounds []float64
	for {
		if err := ctx.Err(); err != nil {
			return bounds, fmt.Errorf("gp: vi: %w", err)
		}
		mean, c, err := v.moments(all)
		if err != nil {
			return bounds, err
		}
		bounds = append(bounds, fit(all.kappa, mean, c)-v.divergence())
		n := len(bounds)
		if n > most || n > 1 && bounds[n-1]-bounds[n-2] < tolerance*float64(len(c)) {
			return bounds, nil
		}
		if err := v.step(all, c, 1, 1); err != nil {
			return bounds, err
		}
	}
}

// Warm takes steps of rate 1 on every stride-th example, which brings q close
// to the result of Fit at 1/stride of the cost per step. It checks ctx before
// each step.
func (v *VI) Warm(ctx context.Context, all *Batch, steps, stride int) error {
	if stride < 1 {
		return fmt.Errorf("gp: vi: stride %d", stride)
	}
	some := all.every(stride)
	for range steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("gp: vi: %w", err)
		}
		if err := v.Step(some, float64(len(all.kappa))/float64(len(some.kappa)), 1); err != nil {
			return err
		}
	}
	return nil
}

// every returns examples 0, stride, 2·stride, …
func (b *Batch) every(stride int) *Batch {
	var rows []int
	out := &Batch{}
	for i := 0; i < len(b.kappa); i += stride {
		rows, out.rest, out.kappa = append(rows, i), append(out.rest, b.rest[i]), append(out.kappa, b.kappa[i])
		if b.prior != nil {
			out.prior = append(out.prior, b.prior[i])
		}
	}
	out.a = dense.Gather(b.a, rows)
	return out
}
