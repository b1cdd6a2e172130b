package gpr

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

// Forget implements classifier.Forgetter, exactly.
func (h *GPR) Forget(name string) error { return exemplars.Forget("gpr", h.All, name, h.drop) }

// ForgetSamples implements classifier.SampleForgetter, exactly. Examples that
// over_cap left out cannot be forgotten: they were not stored.
func (h *GPR) ForgetSamples(x blas32.General, y []string) error {
	return exemplars.ForgetSamples("gpr", h.All, h.Frame.Of(x), y, h.drop)
}

// drop removes examples, and the classes that lose their last one.
func (h *GPR) drop(rows []int) error {
	next := h.clone()
	var gone []int
	if next.All, gone = h.All.Without(rows); len(next.All.Classes) == 0 {
		h.model = model{}
		return nil
	}
	ctx := context.Background()
	if err := next.reg.Remove(ctx, rows); err != nil {
		return err
	}
	if err := next.reg.RemoveOutputs(gone); err != nil {
		return err
	}
	if err := next.settle(ctx, h.fixed); err != nil {
		return err
	}
	h.model = *next
	return nil
}
