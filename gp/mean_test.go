package gp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/gp/quadrature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// around returns the prior with a mean.
func around(t testing.TB, p Prior, mean []float64) Prior {
	t.Helper()
	p = must.Get(p.Around(mean))(t)
	return p
}

// TestGibbsAroundAMeanIsThePosterior: a long chain has the moments of the true
// posterior by numerical integration, with a mean that contradicts some labels.
func TestGibbsAroundAMeanIsThePosterior(t *testing.T) {
	for n := 1; n <= 3; n++ {
		w := newWorld(t, rbf(), inputs(n, 2, 7), inputs(1, 2, 2))
		yes, m := []bool{true, false, true}[:n], []float64{-1.5, 0.5, 2}[:n]
		mean, second := posterior(t, w.k, yes, m...)
		means, squares := longChains(t, around(t, w.prior, m), yes)
		for i := range n {
			within(t, fmt.Sprintf("n = %d, mean %d", n, i), column(means, i), mean[i])
			within(t, fmt.Sprintf("n = %d, square %d", n, i), column(squares, i), second.At(i, i))
		}
	}
}

// TestVIAroundAMean: with the examples as inducing inputs, the bound never falls
// and its fixed point is that of exact augmented inference, S = (K⁻¹+Λ)⁻¹,
// E(f−m) = S(κ−Λm), c² = diag S + (E f)²; predictions are near the true posterior.
func TestVIAroundAMean(t *testing.T) {
	const n = 3
	yes, m := []bool{true, false, true}, []float64{-1.5, 0.5, 2}
	x := inputs(n, 2, 7)
	s := newSparse(t, x, x, yes)
	batch := must.Get(s.batch.Around(m))(t)
	bounds := must.Get(s.vi.Fit(context.Background(), batch, 500, 0))(t)
	for i := 1; i < len(bounds); i++ {
		if bounds[i] < bounds[i-1]-1e-12 {
			t.Errorf("step %d: the bound fell from %.15g to %.15g", i, bounds[i-1], bounds[i])
		}
	}
	omega := []float64{0.25, 0.25, 0.25}
	for range 500 {
		kappa := halves(yes)
		for i := range kappa {
			kappa[i] -= omega[i] * m[i]
		}
		mean, cov := exact(t, s.kmm, omega, kappa)
		for i := range omega {
			omega[i] = polyagamma.Mean(1, math.Sqrt(cov.At(i, i)+(m[i]+mean[i])*(m[i]+mean[i])))
		}
	}
	g := must.Get(NewGibbs(around(t, newWorld(t, rbf(), x, x).prior, m), yes, [][]float64{omega}))(t)
	w := newWorld(t, rbf(), x, x)
	a, b := latentOf(t, s.vi, w.rows, w.vars), latentOf(t, g, w.rows, w.vars)
	truth, second := posterior(t, w.k, yes, m...)
	for i := range n {
		if math.Abs(a.Mean.Data[i]-b.Mean.Data[i]) > 1e-8 || math.Abs(a.Var.Data[i]-b.Var.Data[i]) > 1e-8 {
			t.Errorf("input %d: %.12g, %.12g; want %.12g, %.12g", i, a.Mean.Data[i], a.Var.Data[i], b.Mean.Data[i],
				b.Var.Data[i])
		}
		// mean field: q(ω) does not follow f
		if math.Abs(a.Mean.Data[i]-truth[i]) > 0.1 ||
			math.Abs(a.Var.Data[i]-(second.At(i, i)-truth[i]*truth[i])) > 0.3 {
			t.Errorf("input %d: %.3f, %.3f; the posterior has %.3f, %.3f", i, a.Mean.Data[i], a.Var.Data[i], truth[i],
				second.At(i, i)-truth[i]*truth[i])
		}
	}
	left := must.Get(s.vi.LeaveOneOut(batch))(t)
	want := must.Get(g.LeaveOneOut())(t)
	for i := range left {
		if math.Abs(left[i]-want[i]) > 1e-8 {
			t.Errorf("left out %d: %.12g, want %.12g", i, left[i], want[i])
		}
	}
}

func latentOf(t testing.TB, node interface {
	Latent(blas64.General, []float64) (Latent, error)
}, rows blas64.General, prior []float64) Latent {
	t.Helper()
	return must.Get(node.Latent(rows, prior))(t)
}

// TestLeaveOneOutIsARefit without the example, with the ω of the others.
func TestLeaveOneOutIsARefit(t *testing.T) {
	const n = 6
	x, yes, m := inputs(n, 2, 3), labels(n, 4), []float64{1, -2, 0.5, 0, 3, -1}
	omega := []float64{0.2, 0.1, 0.25, 0, 0.05, 0.3}
	w := newWorld(t, rbf(), x, x)
	g := must.Get(NewGibbs(around(t, w.prior, m), yes, [][]float64{omega}))(t)
	got := must.Get(g.LeaveOneOut())(t)
	for i := range n {
		rest := slices.Delete(dense.Range(0, n), i, i+1)
		o, y, mean := make([]float64, n-1), make([]bool, n-1), make([]float64, n-1)
		for k, r := range rest {
			o[k], y[k], mean[k] = omega[r], yes[r], m[r]
		}
		part := newWorld(t, rbf(), dense.Gather(x, rest), dense.Gather(x, []int{i}))
		h := must.Get(NewGibbs(around(t, part.prior, mean), y, [][]float64{o}))(t)
		l := latentOf(t, h, part.rows, part.vars)
		l.Shift(m[i : i+1])
		left, right := quadrature.LogSigmoids(l.Mean.Data[0], l.Var.Data[0])
		if !yes[i] {
			left = right
		}
		if !(math.Abs(got[i]-left) <= 1e-9) {
			t.Errorf("example %d: %.12g, want %.12g", i, got[i], left)
		}
	}
}

// TestGradientAroundAMean: the gradient is that of central differences.
func TestGradientAroundAMean(t *testing.T) {
	const n, h = 5, 1e-5
	s := newSparse(t, inputs(n, 2, 3), inputs(3, 2, 4), labels(n, 4))
	m := []float64{1, -2, 0.5, 0, 3}
	fit := must.Get(s.batch.Around(m))(t)
	must.Get(s.vi.Fit(context.Background(), fit, 2, 0))(t)
	gradient := func() (float64, BoundGradient) {
		t.Helper()
		must.Do(t, s.vi.Move(s.kmm))
		b := must.Get(s.vi.Batch(s.knm, s.knn, s.yes))(t)
		b = must.Get(b.Around(m))(t)
		bound, g := must.Get2(s.vi.Gradient(b, 1))(t)
		if plain, err := s.vi.Bound(b, 1); err != nil || math.Abs(plain-bound) > 1e-12 {
			t.Fatalf("bound %g, %g with the gradient, %v", plain, bound, err)
		}
		return bound, g
	}
	_, g := gradient()
	check := func(what string, got float64, values ...*float64) {
		t.Helper()
		var sides [2]float64
		for k, step := range []float64{h, -h} {
			for _, v := range values {
				*v += step
			}
			sides[k], _ = gradient()
			for _, v := range values {
				*v -= step
			}
		}
		if want := (sides[0] - sides[1]) / (2 * h); math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
			t.Errorf("%s: %.9g, want %.9g", what, got, want)
		}
	}
	for i := range n {
		check(fmt.Sprintf("k(x%d, x%d)", i, i), g.Knn[i], &s.knn[i])
		for j := range 3 {
			check(fmt.Sprintf("k(x%d, z%d)", i, j), dense.Row(g.Knm, i)[j], &dense.Row(s.knm, i)[j])
		}
	}
	check("k(z0, z1)", 2*dense.Row(g.Kmm, 0)[1], &dense.Row(s.kmm, 0)[1], &dense.Row(s.kmm, 1)[0])
	check("k(z2, z2)", dense.Row(g.Kmm, 2)[2], &dense.Row(s.kmm, 2)[2])
}

// TestMeanIsChecked refuses means of the wrong number and such that are not finite.
func TestMeanIsChecked(t *testing.T) {
	x := inputs(2, 2, 1)
	w, s := newWorld(t, rbf(), x, x), newSparse(t, x, x, labels(2, 1))
	for _, m := range [][]float64{{1}, {1, math.NaN()}, {math.Inf(1), 0}} {
		if _, err := w.prior.Around(m); err == nil {
			t.Errorf("prior: %v was accepted", m)
		}
		if _, err := s.batch.Around(m); err == nil {
			t.Errorf("batch: %v was accepted", m)
		}
	}
}
