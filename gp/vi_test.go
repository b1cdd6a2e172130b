package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// sparse is a VI of m inducing inputs with n examples.
type sparse struct {
	k             kernel.Kernel
	x, z          kernel.Points
	kmm, knm      blas64.General
	knn           []float64
	yes           []bool
	vi            *VI
	batch         *Batch
	examples, ind blas64.General
}

func newSparse(t testing.TB, x, z blas64.General, yes []bool) *sparse {
	t.Helper()
	s := &sparse{k: rbf(), yes: yes, examples: x, ind: z, knm: dense.New(x.Rows, z.Rows), knn: make([]float64, x.Rows)}
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s.x, err = s.k.Points(x)
	check()
	s.z, err = s.k.Points(z)
	check()
	s.kmm = s.k.Gram(s.z)
	s.k.Cross(s.knm, s.x, s.z)
	s.k.Diagonal(s.knn, s.x)
	s.vi, err = NewVI(s.kmm)
	check()
	s.batch, err = s.vi.Batch(s.knm, s.knn, yes)
	check()
	return s
}

func (s *sparse) step(t testing.TB, b *Batch, scale, rate float64) {
	t.Helper()
	must.Do(t, s.vi.Step(b, scale, rate))
}

func (s *sparse) bound(t testing.TB) float64 {
	t.Helper()
	return must.Get(s.vi.Bound(s.batch, 1))(t)
}

// inducing returns m̃ (m) and S̃ (m×m).
func (s *sparse) inducing(t testing.TB) (*mat.VecDense, *mat.Dense) {
	t.Helper()
	l := denseOf(s.vi.l)
	var mean mat.VecDense
	mean.MulVec(l, mat.NewVecDense(s.vi.Len(), s.vi.q.mean))
	var half, cov mat.Dense // L·rootᵀ
	half.Mul(l, denseOf(s.vi.q.root).T())
	cov.Mul(&half, half.T())
	return &mean, &cov
}

// TestStepIsEquation17: a mini-batch step of rate 0.3 from a posterior that is
// no prior moves η and H as the corrected eq. 16 and 17 say, with dense inverses.
func TestStepIsEquation17(t *testing.T) {
	const n, m, size, rate = 30, 5, 8, 0.3
	s := newSparse(t, inputs(n, 2, 1), inputs(m, 2, 2), labels(n, 1))
	s.step(t, s.batch, 1, 0.7)
	mean, cov := s.inducing(t)
	scale := float64(n) / size
	part,
		err := s.vi.Batch(blas64.General{Rows: size, Cols: m, Stride: m, Data: s.knm.Data}, s.knn[:size], s.yes[:size])
	if err != nil {
		t.Fatal(err)
	}
	s.step(t, part, scale, rate)
	after, afterCov := s.inducing(t)

	inv := invDense(t, denseOf(s.kmm))
	knm := mat.NewDense(size, m, s.knm.Data[:size*m])
	var w, q mat.Dense // K_nm K_mm⁻¹
	w.Mul(knm, inv)
	q.Mul(&w, knm.T())
	lambda, kappa := mat.NewDiagDense(size, nil), mat.NewVecDense(size, halves(s.yes[:size]))
	for i := range size {
		wi := w.RowView(i)
		mu := mat.Dot(wi, mean)
		c2 := s.knn[i] - q.At(i, i) + mat.Inner(wi, cov, wi) + mu*mu
		lambda.SetDiag(i, math.Tanh(math.Sqrt(c2)/2)/(2*math.Sqrt(c2)))
	}
	var eta, gain mat.VecDense
	var H, G mat.Dense
	oldH, newH := invDense(t, cov), invDense(t, afterCov)
	eta.MulVec(oldH, mean)
	gain.MulVec(w.T(), kappa)
	G.Product(w.T(), lambda, &w)
	var newEta mat.VecDense
	newEta.MulVec(newH, after)
	H.Scale(-0.5, newH)
	for i := range m {
		if want := (1-rate)*eta.AtVec(i) + rate*scale*gain.AtVec(i); math.Abs(newEta.AtVec(i)-want) > 1e-9 {
			t.Errorf("η %d: %.12g, want %.12g", i, newEta.AtVec(i), want)
		}
		for j := range m {
			want := -0.5*(1-rate)*oldH.At(i, j) - 0.5*rate*(inv.At(i, j)+scale*G.At(i, j))
			if math.Abs(H.At(i, j)-want) > 1e-9 {
				t.Errorf("H %d, %d: %.12g, want %.12g", i, j, H.At(i, j), want)
			}
		}
	}
}

// TestLatentIsEquation14 in its corrected form, with dense inverses.
func TestLatentIsEquation14(t *testing.T) {
	s := newSparse(t, inputs(30, 2, 1), inputs(5, 2, 2), labels(30, 1))
	must.Get(s.vi.Fit(context.Background(), s.batch, 20, 0))(t)
	l := must.Get(s.vi.Latent(s.knm, s.knn))(t)
	mean, cov := s.inducing(t)
	inv, knm := invDense(t, denseOf(s.kmm)), denseOf(s.knm)
	var inner mat.Dense
	inner.Sub(denseOf(s.kmm), cov)
	inner.Product(inv, &inner, inv)
	var w mat.Dense
	w.Mul(knm, inv)
	for i := range 30 {
		k := knm.RowView(i)
		mu, v := mat.Dot(w.RowView(i), mean), s.knn[i]-mat.Inner(k, &inner, k)
		if math.Abs(l.Mean.Data[i]-mu) > 1e-10 || math.Abs(l.Var.Data[i]-v) > 1e-10 {
			t.Errorf("input %d: %.12g, %.12g; want %.12g, %.12g", i, l.Mean.Data[i], l.Var.Data[i], mu, v)
		}
	}
}

// TestAllInducingIsExact: with the examples as inducing inputs the fixed point
// is that of exact augmented inference, S = (K⁻¹+Λ)⁻¹, m = Sκ, c² = diag S + m².
func TestAllInducingIsExact(t *testing.T) {
	const n = 8
	x := inputs(n, 2, 1)
	s := newSparse(t, x, x, labels(n, 2))
	if s.vi.jitter != 0 {
		t.Fatalf("jitter %g", s.vi.jitter)
	}
	must.Get(s.vi.Fit(context.Background(), s.batch, 500, 0))(t)
	kappa, omega := halves(s.yes), make([]float64, n)
	var mean []float64
	var cov *mat.Dense
	for i := range omega {
		omega[i] = 0.25
	}
	for range 500 {
		mean, cov = exact(t, s.kmm, omega, kappa)
		for i := range omega {
			omega[i] = polyagamma.Mean(1, math.Sqrt(cov.At(i, i)+mean[i]*mean[i]))
		}
	}
	got, gotCov := s.inducing(t)
	for i := range n {
		if math.Abs(got.AtVec(i)-mean[i]) > 1e-8 {
			t.Errorf("mean %d: %.12g, want %.12g", i, got.AtVec(i), mean[i])
		}
		for j := range n {
			if math.Abs(gotCov.At(i, j)-cov.At(i, j)) > 1e-8 {
				t.Errorf("covariance %d, %d: %.12g, want %.12g", i, j, gotCov.At(i, j), cov.At(i, j))
			}
		}
	}
}

// TestBoundNeverFalls under full-batch steps, is above that of the misprinted
// step's fixed point, and mini-batches come close to its maximum.
func TestBoundNeverFalls(t *testing.T) {
	const n = 60
	x := inputs(n, 2, 1)
	yes := make([]bool, n)
	for i := range yes {
		yes[i] = dense.Row(x, i)[0]*dense.Row(x, i)[1] > 0
	}
	s := newSparse(t, x, inputs(12, 2, 2), yes)
	bounds := must.Get(s.vi.Fit(context.Background(), s.batch, 60, 0))(t)
	for i := 1; i < len(bounds); i++ {
		if bounds[i] < bounds[i-1]-1e-10 {
			t.Errorf("step %d: %.12g after %.12g", i, bounds[i], bounds[i-1])
		}
	}
	best := bounds[len(bounds)-1]
	if got := s.bound(t); math.Abs(got-best) > 1e-12 || best <= bounds[0] {
		t.Errorf("bound %g, last of Fit %g, first %g", got, best, bounds[0])
	}
	paper := newSparse(t, x, inputs(12, 2, 2), yes)
	for range 60 { // n/(2|B|) as printed
		paper.step(t, paper.batch, 0.5, 1)
	}
	if got := paper.bound(t); got >= best-0.1 {
		t.Errorf("as printed the bound is %g, corrected %g", got, best)
	}
	few := newSparse(t, x, inputs(12, 2, 2), yes)
	for e := range 60 {
		for first := 0; first < n; first += 20 {
			b := must.Get(few.vi.Batch(blas64.General{Rows: 20, Cols: 12, Stride: 12,
				Data: few.knm.Data[first*12 : (first+20)*12]}, few.knn[first:first+20], yes[first:first+20]))(t)
			few.step(t, b, 3, 0.5/math.Sqrt(float64(1+e)))
		}
	}
	if got := few.bound(t); math.Abs(got-best) > 0.5 {
		t.Errorf("mini-batches reach %g, full batches %g", got, best)
	}
}

// TestWarmIsNear: steps on every third example, then full ones, reach the same
// maximum in fewer of those.
func TestWarmIsNear(t *testing.T) {
	x, z := inputs(300, 2, 1), inputs(10, 2, 2)
	yes := make([]bool, 300)
	for i := range yes {
		yes[i] = dense.Row(x, i)[0]*dense.Row(x, i)[1] > 0
	}
	cold, warm := newSparse(t, x, z, yes), newSparse(t, x, z, yes)
	must.Do(t, warm.vi.Warm(context.Background(), warm.batch, 15, 3))
	a := must.Get(cold.vi.Fit(context.Background(), cold.batch, 300, 1e-6))(t)
	b := must.Get(warm.vi.Fit(context.Background(), warm.batch, 300, 1e-6))(t)
	if last := a[len(a)-1]; len(b) >= len(a) || b[0] < a[0] || math.Abs(b[len(b)-1]-last) > 1e-2 {
		t.Errorf("cold %d steps to %g, warm %d steps from %g to %g", len(a), last, len(b), b[0], b[len(b)-1])
	}
}

// TestBoundIsBruteForce: eq. 13 term by term, E log p(y|ω, f) by draws of ω and
// f, KL(q(ω)‖p(ω)) by the density ratio at draws of ω, KL(q(f̄)‖p(f̄)) by that
// at draws of f̄.
func TestBoundIsBruteForce(t *testing.T) {
	const n, m, draws = 3, 2, 100_000
	s := newSparse(t, inputs(n, 2, 1), inputs(m, 2, 2), []bool{true, false, true})
	s.step(t, s.batch, 1, 0.6)
	_, c := must.Get2(s.vi.moments(s.batch))(t)
	mean, cov := s.inducing(t)
	inv, covInv := invDense(t, denseOf(s.kmm)), invDense(t, cov)
	var w, q mat.Dense
	w.Mul(denseOf(s.knm), inv)
	q.Mul(&w, denseOf(s.knm).T())
	l := dense.New(m, m)
	for i := range m {
		for j := range m {
			dense.Row(l, i)[j] = cov.At(i, j)
		}
	}
	if !linalg.Factorize(linalg.Gonum{}, l) {
		t.Fatal("S̃ is not positive definite")
	}
	constant := (math.Log(mat.Det(denseOf(s.kmm))) - math.Log(mat.Det(cov))) / 2
	rng := streams(1)(0)
	var sum, squares float64
	u := make([]float64, m)
	for range draws {
		normals(rng, u)
		f := mat.VecDenseCopyOf(mean)
		var centred mat.VecDense
		for i := range m {
			for j := range i + 1 {
				f.SetVec(i, f.AtVec(i)+dense.Row(l, i)[j]*u[j])
			}
		}
		centred.SubVec(f, mean)
		term := -constant + mat.Inner(&centred, covInv, &centred)/2 - mat.Inner(f, inv, f)/2
		for i, kappa := range halves(s.yes) {
			fi := mat.Dot(w.RowView(i), f) + math.Sqrt(s.knn[i]-q.At(i, i))*rng.NormFloat64()
			omega := polyagamma.Draw(rng, c[i])
			term += -math.Ln2 + kappa*fi - omega*fi*fi/2
			term -= math.Log(math.Cosh(c[i]/2)) - c[i]*c[i]*omega/2
		}
		sum += term / draws
		squares += term * term / draws
	}
	sem := math.Sqrt((squares - sum*sum) / draws)
	if got := s.bound(t); math.Abs(got-sum) > 5*sem {
		t.Errorf("bound %.5f, brute force %.5f ± %.5f", got, sum, sem)
	}
}

// evidence integrates log p(y) at n ≤ 3 inputs on a grid.
func evidence(t testing.TB, k blas64.General, yes []bool) float64 {
	t.Helper()
	const steps, reach = 60, 7.0
	l := dense.Clone(k)
	if !linalg.Factorize(linalg.Gonum{}, l) {
		t.Fatal("singular")
	}
	var total float64
	var walk func(u []float64, p float64)
	walk = func(u []float64, p float64) {
		if i := len(u); i < k.Rows {
			for s := range steps + 1 {
				x := -reach + 2*reach*float64(s)/steps
				walk(append(u, x), p*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)*2*reach/steps)
			}
			return
		}
		for i := range u {
			var f float64
			for j := range i + 1 {
				f += dense.Row(l, i)[j] * u[j]
			}
			p /= 1 + math.Exp(-2*halves(yes)[i]*f)
		}
		total += p
	}
	walk(nil, 1)
	return math.Log(total)
}

// TestBoundOrder: fewer inducing inputs < all of them < log p(y).
func TestBoundOrder(t *testing.T) {
	x, yes := inputs(3, 2, 5), []bool{true, false, true}
	var last = math.Inf(-1)
	for m := 1; m <= 3; m++ {
		z := blas64.General{Rows: m, Cols: 2, Stride: 2, Data: x.Data}
		s := newSparse(t, x, z, yes)
		must.Get(s.vi.Fit(context.Background(), s.batch, 500, 0))(t)
		if got := s.bound(t); got <= last {
			t.Errorf("%d inducing inputs: %g, %d: %g", m, got, m-1, last)
		}
		last = s.bound(t)
	}
	if want := evidence(t, newSparse(t, x, x, yes).kmm, yes); last >= want || last < want-0.2 {
		t.Errorf("bound %g, log evidence %g", last, want)
	}
}

// TestMiniBatchBound: the scaled bounds of the parts average to the whole.
func TestMiniBatchBound(t *testing.T) {
	s := newSparse(t, inputs(20, 2, 1), inputs(4, 2, 2), labels(20, 1))
	s.step(t, s.batch, 1, 1)
	var mean float64
	for first := 0; first < 20; first += 5 {
		b := must.Get(s.vi.Batch(blas64.General{Rows: 5, Cols: 4, Stride: 4, Data: s.knm.Data[first*4 : (first+5)*4]},
			s.knn[first:first+5], s.yes[first:first+5]))(t)
		part := must.Get(s.vi.Bound(b, 4))(t)
		mean += part / 4
	}
	if math.Abs(mean-s.bound(t)) > 1e-11 {
		t.Errorf("parts %g, whole %g", mean, s.bound(t))
	}
}

// TestVIMatchesGibbs: on the same examples both predict nearly the same.
func TestVIMatchesGibbs(t *testing.T) {
	const n = 40
	x, z := inputs(n, 2, 1), inputs(30, 2, 2)
	yes := make([]bool, n)
	for i := range yes {
		yes[i] = dense.Row(x, i)[0] > 0.3
	}
	s := newSparse(t, x, x, yes)
	must.Get(s.vi.Fit(context.Background(), s.batch, 200, 1e-9))(t)
	w := newWorld(t, rbf(), x, z)
	g := must.Get(FitGibbs(context.Background(), w.prior, yes, Schedule{Chains: 100, Steps: 20}, streams(1)))(t)
	a, b, none := make([]float64, 30), make([]float64, 30), make([]float64, 30)
	for i, node := range []interface {
		Latent(blas64.General, []float64) (Latent, error)
	}{s.vi, g} {
		l := must.Get(node.Latent(w.rows, w.vars))(t)
		l.LogProbs([][]float64{a, b}[i], none, Quadrature)
	}
	for i := range a {
		if math.Abs(math.Exp(a[i])-math.Exp(b[i])) > 0.1 {
			t.Errorf("input %d: %.3f by VI, %.3f by Gibbs", i, math.Exp(a[i]), math.Exp(b[i]))
		}
	}
}

func TestVIRepeatsAndReloads(t *testing.T) {
	run := func() *sparse {
		s := newSparse(t, inputs(300, 3, 1), inputs(70, 3, 2), labels(300, 1))
		must.Get(s.vi.Fit(context.Background(), s.batch, 5, 0))(t)
		return s
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	many := run()
	runtime.GOMAXPROCS(1)
	one := run()
	if !slices.Equal(one.vi.eta, many.vi.eta) || !slices.Equal(one.vi.precision.Data, many.vi.precision.Data) {
		t.Error("one thread gives other bytes")
	}
	eta, precision := many.vi.State()
	back := must.Get(LoadVI(many.kmm, eta, precision))(t)
	a := must.Get(many.vi.Latent(many.knm, many.knn))(t)
	b, err := back.Latent(many.knm, many.knn)
	if err != nil || !slices.Equal(a.Mean.Data, b.Mean.Data) || !slices.Equal(a.Var.Data, b.Var.Data) {
		t.Errorf("reloaded: other bytes, %v", err)
	}
}

func TestSingularInducingInputsGetJitter(t *testing.T) {
	z := inputs(4, 2, 2)
	copy(dense.Row(z, 3), dense.Row(z, 0))
	s := newSparse(t, inputs(10, 2, 1), z, labels(10, 1))
	if want := 1e-6 * s.k.Outputscale; s.vi.jitter != want {
		t.Errorf("jitter %g, want %g", s.vi.jitter, want)
	}
	must.Get(s.vi.Fit(context.Background(), s.batch, 20, 0))(t)
	l, err := s.vi.Latent(s.knm, s.knn)
	if err != nil || slices.Min(l.Var.Data) < 0 || slices.Max(l.Var.Data) > s.k.Outputscale {
		t.Errorf("variances %g … %g, %v", slices.Min(l.Var.Data), slices.Max(l.Var.Data), err)
	}
}

func TestVIRefuses(t *testing.T) {
	s := newSparse(t, inputs(6, 2, 1), inputs(3, 2, 2), labels(6, 1))
	negative := dense.Clone(s.kmm)
	negative.Data[0] = -1
	var psd *linalg.NotPSDError
	if _, err := NewVI(negative); !errors.As(err, &psd) {
		t.Errorf("negative variance: %v", err)
	}
	eta, precision := s.vi.State()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, err := range map[string]error{
		"oblong":    second(NewVI(s.knm)),
		"empty":     second(NewVI(blas64.General{})),
		"columns":   second(s.vi.Batch(s.kmm, s.knn, s.yes)),
		"labels":    second(s.vi.Batch(s.knm, s.knn, s.yes[1:])),
		"rate":      s.vi.Step(s.batch, 1, 0),
		"rate 2":    s.vi.Step(s.batch, 1, 2),
		"scale":     s.vi.Step(s.batch, 0, 1),
		"eta":       second(LoadVI(s.kmm, eta[1:], precision)),
		"precision": second(LoadVI(s.kmm, eta, negative)),
		"predict":   second(s.vi.Latent(s.knm, s.knn[1:])),
		"cancelled": second(s.vi.Fit(ctx, s.batch, 3, 0)),
		"stride":    s.vi.Warm(context.Background(), s.batch, 1, 0),
		"warm":      s.vi.Warm(ctx, s.batch, 1, 1),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func BenchmarkVIStep(b *testing.B) {
	for _, c := range []struct{ n, m int }{{1000, 100}, {4000, 300}} {
		s := newSparse(b, inputs(c.n, 16, 1), inputs(c.m, 16, 2), labels(c.n, 1))
		b.Run(fmt.Sprintf("n=%d/m=%d", c.n, c.m), func(b *testing.B) {
			for b.Loop() {
				s.step(b, s.batch, 1, 1)
			}
		})
	}
}
