package gpr

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// TestFactorOnEveryBackend is the factor of the tiles, whatever multiplies and
// wherever the last block ends.
func TestFactorOnEveryBackend(t *testing.T) {
	for _, n := range []int{leastBlocked, leastBlocked + 1, leastBlocked + side - 1, leastBlocked + side, leastBlocked +
		side + 7, 6 * block} {
		want := drawnGram(t, linalg.Backend{}, n, 0.03)
		must.Do(t, factor(context.Background(), want))
		nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
			got := drawnGram(t, m, n, 0.03)
			must.Do(t, factorOn(context.Background(), m.Raw(), got))
			for i := range n {
				for j, v := range got.wide(i) {
					if w := want.wide(i)[j]; math.Abs(v-w) > 1e-12*(1+math.Abs(w)) {
						t.Fatalf("n = %d: L[%d,%d] = %.17g, want %.17g", n, i, j, v, w)
					}
				}
			}
		})
	}
}

// TestFactorOnRefuses what is singular: the same example twice, without noise.
func TestFactorOnRefuses(t *testing.T) {
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		n := leastBlocked + 100
		for _, second := range []int{1, block + 1, n - 1} {
			singular := drawnGram(t, m, n, 0)
			for j := range second {
				singular.row(second)[j] = at(singular, 0, j)
			}
			for i := second; i < n; i++ {
				singular.row(i)[second] = at(singular, 0, i)
			}
			var bad *NotPSDError
			if err := factorOn(context.Background(), m.Raw(), singular); !errors.As(err, &bad) {
				t.Errorf("example 0 again as %d: %v", second, err)
			}
		}
	})
}

// TestFitOnEveryBackend gives the regression that gonum gives, and updates go
// on from it.
func TestFitOnEveryBackend(t *testing.T) {
	const n, d, C = leastBlocked + 33, 24, 3
	x, y := drawnExamples(n+5, d, C)
	want := fittedOn(t, linalg.Backend{}, x, y, n)
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		got := fittedOn(t, m, x, y, n)
		for i, v := range got.Alpha().Data {
			if w := want.Alpha().Data[i]; math.Abs(v-w) > 1e-10*(1+math.Abs(w)) {
				t.Fatalf("weight %d is %.17g, want %.17g", i, v, w)
			}
		}
		must.Do(t, got.Add(context.Background(), rowsOf(x, n, 5), rowsOf(y, n, 5)))
		if drift, err := got.Drift(context.Background()); err != nil || drift > 1e-9 {
			t.Errorf("drift %g, %v", drift, err)
		}
	})
}

// TestAddManyBeginsAnew: adding many examples refits, which gives the same
// regression.
func TestAddManyBeginsAnew(t *testing.T) {
	const n, k, d, C = leastBlocked, 3 * side, 24, 3
	x, y := drawnExamples(n+k, d, C)
	want := fittedOn(t, linalg.Backend{}, x, y, n+k)
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		got := fittedOn(t, m, x, y, n)
		must.Do(t, got.Add(context.Background(), rowsOf(x, n, k), rowsOf(y, n, k)))
		for i := range C {
			for j, v := range dense.Row(got.Alpha(), i) {
				if w := dense.Row(want.Alpha(), i)[j]; math.Abs(v-w) > 1e-10*(1+math.Abs(w)) {
					t.Fatalf("weight %d of output %d is %.17g, want %.17g", j, i, v, w)
				}
			}
		}
		if drift, err := got.Drift(context.Background()); err != nil || drift > 1e-9 {
			t.Errorf("drift %g, %v", drift, err)
		}
	})
}

// TestUpdatesOnEveryBackend stay exact: examples added until corrections are
// folded twice, changed and removed.
func TestUpdatesOnEveryBackend(t *testing.T) {
	const n, more, d, C = leastBlocked + 20, 2*pendingRank + 5, 24, 2
	x, y := drawnExamples(n+more, d, C)
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		for _, method := range []Method{Iterative, Direct, Cholesky} {
			r := fittedBy(t, method, m, x, y, n)
			for i := range more {
				must.Do(t, r.Add(context.Background(), rowsOf(x, n+i, 1), rowsOf(y, n+i, 1)))
			}
			must.Do(t, r.SetInputs(context.Background(), []int{3, n, 90}, halved(rowsOf(x, 5, 3))))
			must.Do(t, r.Remove(context.Background(), []int{0, 64, n + 1}))
			if drift, err := r.Drift(context.Background()); err != nil || drift > 1e-8 {
				t.Errorf("%s: drift %g, %v", method, drift, err)
			}
		}
	})
}

func fittedOn(t *testing.T, m linalg.Backend, x, y blas64.General, n int) *Regression {
	t.Helper()
	return fittedBy(t, DefaultConfig().Method, m, x, y, n)
}

func fittedBy(t *testing.T, method Method, m linalg.Backend, x, y blas64.General, n int) *Regression {
	t.Helper()
	r := must.Get(New(RBF{Lengthscale: 2, Outputscale: 1}, Config{Method: method, Noise: 0.03}))(t)
	r.UseBackend(m)
	must.Do(t, r.Add(context.Background(), rowsOf(x, 0, n), rowsOf(y, 0, n)))
	return r
}

func drawnExamples(n, d, C int) (x, y blas64.General) {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	x, y = dense.New(n, d), dense.New(n, C)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range y.Data {
		y.Data[i] = rng.NormFloat64()
	}
	return x, y
}

// halved is another example, far from all given ones.
func halved(m blas64.General) blas64.General {
	out := dense.Clone(m)
	for i := range out.Data {
		out.Data[i] /= 2
	}
	return out
}

// drawnGram is K+σ²I of drawn examples.
func drawnGram(t *testing.T, m linalg.Backend, n int, noise float64) *triangle {
	t.Helper()
	x, _ := drawnExamples(n, 24, 1)
	g := newTriangle(n)
	must.Do(t, gram(context.Background(), m, g, RBF{Lengthscale: 2, Outputscale: 1}, measured(x), noise))
	return g
}

// at is an element of the symmetric matrix.
func at(m *triangle, i, j int) float64 {
	if j > i {
		i, j = j, i
	}
	return m.row(i)[j]
}
