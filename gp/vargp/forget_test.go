package vargp

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestWhatRemembers: after two tasks VAR-GP still knows the first; Re-VAR-GP
// too with the gradient of its bound, but not with that of the authors' program.
func TestWhatRemembers(t *testing.T) {
	known := map[Variant]float64{}
	for _, v := range []Variant{Full, Retrain, RetrainPublished} {
		m := must.Get(New(quick(v, false), 2, 4, 1))(t)
		learn(t, m, task(m, 20, 8, 0, 1))
		k := task(m, 20, 8, 2, 3)
		learn(t, m, k)
		x, y := corners(50, 9, 0, 1)
		lp := logProb(t, m, x)
		for i, c := range y {
			known[v] -= lp.Data[i*lp.Stride+c] / float64(len(y))
		}
	}
	if known[Full] > 0.3 || known[Retrain] > 0.3 || known[RetrainPublished] < 2*known[Full] {
		t.Errorf("negative log-probabilities of the first task: %v", known)
	}
}
