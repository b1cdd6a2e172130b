package gpr

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestDriftIsFoundAndEnds: damage to the inverse, which stands for drift, is
// detected in the examples that are checked, and a fresh fit removes it.
func TestDriftIsFoundAndEnds(t *testing.T) {
	for _, method := range []Method{Cholesky, Direct, Iterative} {
		r := must.Get(New(RBF{Lengthscale: 1, Outputscale: 1}, Config{Method: method, Noise: 0.1}))(t)
		rng := rand.New(rand.NewPCG(1, 2))
		x, y := dense.New(90, 3), dense.New(90, 2)
		for _, m := range [][]float64{x.Data, y.Data} {
			for i := range m {
				m[i] = rng.NormFloat64()
			}
		}
		must.Do(t, r.Add(context.Background(), x, y))
		for _, part := range []func(){func() { damage(r.solver) }, func() { r.alpha.Data[0] += 1e-6 }} {
			part()
			before := r.Refreshes()
			if d, err := r.Drift(context.Background()); err != nil || d < 1e-8 {
				t.Fatalf("%s: drift %g, %v", method, d, err)
			}
			for range 90 * lookEvery { // at least every example is looked at
				must.Do(t, r.SetTargets(context.Background(), []int{3}, rowsOf(y, 3, 1)))
			}
			if d, err := r.Drift(context.Background()); err != nil || d > 1e-12 || r.Refreshes() != before+1 {
				t.Errorf("%s: drift %g after %d refreshes, %v", method, d, r.Refreshes(), err)
			}
		}
	}
}

func damage(s solver) {
	switch s := s.(type) {
	case *cholesky:
		s.l.row(5)[2] += 1e-6
	case *woodbury:
		s.a.row(5)[2] += 1e-6
	}
}

// TestNoEndlessRefreshing: if a fresh fit is no better, there is only one.
func TestNoEndlessRefreshing(t *testing.T) {
	r := must.Get(New(Linear{Outputscale: 1e8}, Config{Method: Cholesky, Noise: 1}))(t)
	x, y := dense.New(20, 3), dense.New(20, 1)
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(i * i))
	}
	for i := range y.Data {
		y.Data[i] = 1e6 * float64(i%3)
	}
	must.Do(t, r.Add(context.Background(), x, y))
	for range 10 * lookEvery {
		must.Do(t, r.SetTargets(context.Background(), []int{3}, rowsOf(y, 3, 1)))
	}
	if r.Refreshes() > 2 {
		t.Errorf("%d refreshes", r.Refreshes())
	}
}
