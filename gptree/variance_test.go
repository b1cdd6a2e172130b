package gptree_test

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestVariance: with mean zero, a share of the prior variance, larger far from all examples.
func TestVariance(t *testing.T) {
	h := newHead(t, paper(func(*gptree.Config) {}))
	x, y := cloud(0, 4, 10, 5, 2)
	learn(t, h, x, y)
	for j := range x.Cols {
		x.Data[j] = 100 - 200*float32(j%2)
	}
	novelty, variance := make([]float64, x.Rows), make([]float64, x.Rows)
	must.Do(t, h.Score(dense.New(x.Rows, 4), novelty, x))
	must.Do(t, h.Variance(variance, x))
	if !slices.Equal(variance, novelty) || slices.Min(variance) <= 0 || slices.Max(variance) > 1+1e-9 ||
		slices.Max(variance[1:]) >= variance[0] {
		t.Errorf("variances %v", variance)
	}
	if err := h.Variance(variance[1:], x); err == nil {
		t.Error("too few variances were accepted")
	}
}
