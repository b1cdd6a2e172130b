package gpr_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func methods() []gpr.Method {
	return []gpr.Method{gpr.Cholesky, gpr.Direct, gpr.Iterative}
}

// model is a plain list of examples, and the batch solution from it.
type model struct {
	kernel gpr.RBF
	noise  float64
	x, t   [][]float64
}

func random(rng *rand.Rand, rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
		for j := range out[i] {
			out[i][j] = rng.NormFloat64()
		}
	}
	return out
}

func denseOf(rows [][]float64) blas64.General {
	if len(rows) == 0 {
		return blas64.General{}
	}
	m := blas64.General{Rows: len(rows), Cols: len(rows[0]), Stride: max(1, len(rows[0]))}
	for _, r := range rows {
		m.Data = append(m.Data, r...)
	}
	return m
}

func (m *model) kappa(a, b []float64) float64 {
	var sq float64
	for i := range a {
		sq += (a[i] - b[i]) * (a[i] - b[i])
	}
	return m.kernel.Outputscale * math.Exp(-sq/2/m.kernel.Lengthscale/m.kernel.Lengthscale)
}

// inverse is (K+σ²I)⁻¹ by gonum, and log|K+σ²I|.
func (m *model) inverse(t *testing.T) (*mat.SymDense, float64) {
	t.Helper()
	n := len(m.x)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, m.kappa(m.x[i], m.x[j]))
		}
		k.SetSym(i, i, k.At(i, i)+m.noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("the reference is not positive definite")
	}
	var inv mat.SymDense
	must.Do(t, chol.InverseTo(&inv))
	return &inv, chol.LogDet()
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Fatalf("%s: %.15g, want %.15g", what, got, want)
	}
}

// same compares a regression with the batch solution of the same examples.
func (m *model) same(t *testing.T, what string, r *gpr.Regression, tol float64) {
	t.Helper()
	n := len(m.x)
	if r.Len() != n {
		t.Fatalf("%s: %d examples, want %d", what, r.Len(), n)
	}
	if n == 0 {
		return
	}
	C := len(m.t[0])
	inv, logDet := m.inverse(t)
	loo := leaveOneOut(t, r)
	evidence := -float64(C) / 2 * (logDet + float64(n)*math.Log(2*math.Pi))
	for i := range n {
		for c := range C {
			var alpha float64
			for j := range n {
				alpha += inv.At(i, j) * m.t[j][c]
			}
			near(t, what+": alpha", r.Alpha().Data[c*r.Alpha().Stride+i], alpha, tol)
			near(t, what+": leave-one-out", loo.Data[i*loo.Stride+c], m.t[i][c]-alpha/inv.At(i, i), tol)
			evidence -= m.t[i][c] * alpha / 2
		}
	}
	near(t, what+": log marginal likelihood", r.LogMarginalLikelihood(), evidence, tol)
	m.sameAnswers(t, what, r, inv, tol)
}

func (m *model) sameAnswers(t *testing.T, what string, r *gpr.Regression, inv *mat.SymDense, tol float64) {
	t.Helper()
	q := random(rand.New(rand.NewPCG(3, 9)), 5, len(m.x[0]))
	C := len(m.t[0])
	mean := blas64.General{Rows: 5, Cols: C, Stride: max(1, C), Data: make([]float64, 5*C)}
	variance := make([]float64, 5)
	must.Do(t, errors.Join(r.Mean(mean, denseOf(q)), r.Variance(variance, denseOf(q))))
	for i, x := range q {
		k, w := mat.NewVecDense(len(m.x), nil), mat.NewVecDense(len(m.x), nil)
		for a := range m.x {
			k.SetVec(a, m.kappa(x, m.x[a]))
		}
		w.MulVec(inv, k)
		near(t, what+": variance", variance[i], m.kernel.Outputscale+m.noise-mat.Dot(k, w), tol)
		for c := range C {
			var mu float64
			for b := range m.x {
				mu += w.AtVec(b) * m.t[b][c]
			}
			near(t, what+": mean", mean.Data[i*mean.Stride+c], mu, tol)
		}
	}
}

func fresh(t *testing.T, method gpr.Method, m *model) *gpr.Regression {
	t.Helper()
	r := must.Get(gpr.New(m.kernel, gpr.Config{Method: method, Noise: m.noise}))(t)
	if len(m.x) > 0 {
		must.Do(t, r.Add(context.Background(), denseOf(m.x), denseOf(m.t)))
	}
	return r
}

func newModel(seed uint64, n, d, C int) *model {
	rng := rand.New(rand.NewPCG(seed, 5))
	return &model{kernel: gpr.RBF{Lengthscale: 1.3, Outputscale: 1.7}, noise: 0.05, x: random(rng, n, d),
		t: random(rng, n, C)}
}

func leaveOneOut(t *testing.T, r *gpr.Regression) blas64.General {
	t.Helper()
	return must.Get(r.LeaveOneOut(context.Background()))(t)
}
