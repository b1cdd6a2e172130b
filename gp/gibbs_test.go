package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

func inputs(n, d int, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := dense.New(n, d)
	normals(rng, m.Data)
	return m
}

// streams returns the streams of the chains of a node.
func streams(seed uint64) func(chain int) *rand.Rand {
	return func(chain int) *rand.Rand { return random.Stream(seed, "test", chain) }
}

func labels(n int, seed uint64) []bool {
	rng := rand.New(rand.NewPCG(seed, 3))
	yes := make([]bool, n)
	for i := range yes {
		yes[i] = rng.IntN(2) == 0
	}
	return yes
}

func rbf() kernel.Kernel {
	return kernel.Kernel{Kind: kernel.RBF, Lengthscale: 1.3, Outputscale: 3}
}

// world is a prior of n inputs with covariances and variances of q new ones.
type world struct {
	prior Prior
	k     blas64.General
	rows  blas64.General
	vars  []float64
}

func newWorld(t testing.TB, k kernel.Kernel, x, z blas64.General) world {
	t.Helper()
	px := must.Get(k.Points(x))(t)
	pz := must.Get(k.Points(z))(t)
	w := world{rows: dense.New(z.Rows, x.Rows), vars: make([]float64, z.Rows)}
	w.k = k.Gram(px)
	k.Cross(w.rows, pz, px)
	k.Diagonal(w.vars, pz)
	w.prior = must.Get(FunctionSpace(w.k))(t)
	return w
}

func denseOf(m blas64.General) *mat.Dense { return mat.NewDense(m.Rows, m.Cols, dense.Clone(m).Data) }

func invDense(t testing.TB, m mat.Matrix) *mat.Dense {
	t.Helper()
	var inv mat.Dense
	must.Do(t, inv.Inverse(m))
	return &inv
}

// TestConditionIsTheDenseFormula: eq. 12 as printed, with Ω⁻¹.
func TestConditionIsTheDenseFormula(t *testing.T) {
	const n, q = 12, 5
	w := newWorld(t, rbf(), inputs(n, 3, 1), inputs(q, 3, 2))
	yes := labels(n, 1)
	omega := make([]float64, n)
	for i := range omega {
		omega[i] = 0.02 + 0.03*float64(i)
	}
	g := must.Get(NewGibbs(w.prior, yes, [][]float64{omega}))(t)
	got := must.Get(g.Latent(w.rows, w.vars))(t)
	s := denseOf(w.k)
	target := mat.NewVecDense(n, nil)
	for i, kappa := range halves(yes) {
		s.Set(i, i, s.At(i, i)+1/omega[i])
		target.SetVec(i, kappa/omega[i])
	}
	inv, kz := invDense(t, s), denseOf(w.rows)
	var alpha, mean mat.VecDense
	var cov mat.Dense
	alpha.MulVec(inv, target)
	mean.MulVec(kz, &alpha)
	cov.Product(kz, inv, kz.T())
	for i := range q {
		if v := w.vars[i] - cov.At(i, i); math.Abs(got.Mean.Data[i]-mean.AtVec(i)) > 1e-11 ||
			math.Abs(got.Var.Data[i]-v) > 1e-11 {
			t.Errorf("input %d: %.12g, %.12g; want %.12g, %.12g", i, got.Mean.Data[i], got.Var.Data[i], mean.AtVec(i),
				v)
		}
	}
}

// TestZeroOmegaIsNoExample: ω = 0 removes an example's likelihood if its κ is 0, as
// in the logistic-softmax; the result is as if the example were absent.
func TestZeroOmegaIsNoExample(t *testing.T) {
	x, z := inputs(6, 2, 1), inputs(4, 2, 2)
	w := newWorld(t, rbf(), x, z)
	kappa, omega := halves(labels(6, 1)), []float64{0.2, 0, 0.1, 0.3, 0, 0.2}
	kappa[1], kappa[4] = 0, 0
	all := must.Get(conditionOn(w.prior, kappa, omega))(t)
	kept := []int{0, 2, 3, 5}
	few := dense.New(4, 2)
	var k, o []float64
	for i, r := range kept {
		copy(dense.Row(few, i), dense.Row(x, r))
		k, o = append(k, kappa[r]), append(o, omega[r])
	}
	v := newWorld(t, rbf(), few, z)
	some := must.Get(conditionOn(v.prior, k, o))(t)
	a, b := Latent{dense.New(4, 1), dense.New(4, 1)}, Latent{dense.New(4, 1), dense.New(4, 1)}
	project(a.Mean, 0, w.rows, all.weights)
	project(b.Mean, 0, v.rows, some.weights)
	for _, err := range []error{addSquares(linalg.Backend{}, a.Var, 0, 1, w.rows, all.factor),
		addSquares(linalg.Backend{}, b.Var, 0, 1, v.rows, some.factor)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		if math.Abs(a.Mean.Data[i]-b.Mean.Data[i]) > 1e-13 || math.Abs(a.Var.Data[i]-b.Var.Data[i]) > 1e-13 {
			t.Errorf("input %d: %g, %g and %g, %g", i, a.Mean.Data[i], a.Var.Data[i], b.Mean.Data[i], b.Var.Data[i])
		}
	}
}

// conditionOn returns the posterior given ω.
func conditionOn(p Prior, kappa, omega []float64) (conditional, error) {
	half, err := roots(omega, len(kappa))
	if err != nil {
		return conditional{}, err
	}
	return condition(p, kappa, omega, half)
}

// TestTogetherIsAlone: chains that run together, with conjugate gradients, draw what
// each draws alone with a factor, from the same random numbers; also when K is singular,
// and when the gradients have to give up.
func TestTogetherIsAlone(t *testing.T) {
	const n, chains, steps = 90, 3, 3
	x := inputs(n, 4, 1)
	copy(x.Data[4*(n-10):], x.Data[:40]) // duplicates
	mean := make([]float64, n)
	normals(random.Stream(3, "test"), mean)
	for name, k := range map[string]kernel.Kernel{
		"rbf":      rbf(),
		"wide":     {Kind: kernel.RBF, Lengthscale: 3, Outputscale: 1e5},
		"linear":   {Kind: kernel.Linear, Lengthscale: 1, Outputscale: 2},
		"near one": {Kind: kernel.RBF, Lengthscale: 1e-3, Outputscale: 1},
	} {
		w := newWorld(t, k, x, inputs(1, 4, 2))
		around := must.Get(w.prior.Around(mean))(t)
		for about, p := range map[string]Prior{"zero": w.prior, "a mean": around} {
			nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
				s := newSampler(p.On(m), halves(labels(n, 1)))
				together := make([][]float64, chains)
				must.Do(t, s.runTogether(together, Schedule{Steps: steps}, streams(1)))
				for c, omega := range together {
					alone := make([]float64, n)
					must.Do(t, s.runAlone(alone, Schedule{Steps: steps}, streams(1)(c)))
					for i := range alone {
						if math.Abs(omega[i]-alone[i]) > 1e-7 {
							t.Fatalf("%s around %s: ω of example %d in chain %d is %g together, %g alone", name, about,
								i, c, omega[i], alone[i])
						}
					}
				}
			})
		}
	}
}

// TestDrawsHaveTheConditionalMoments: Matheron draws against Σ = (K⁻¹+Ω)⁻¹ and
// Σκ (eq. 4), in both spaces, also with a singular K.
func TestDrawsHaveTheConditionalMoments(t *testing.T) {
	const draws = 60_000
	phi := inputs(5, 2, 4)
	k := dense.New(5, 5)
	linalg.MulTrans64(k, phi, phi)
	function, err := FunctionSpace(k) // rank 2
	if err != nil {
		t.Fatal(err)
	}
	weight := must.Get(WeightSpace(phi))(t)
	full := newWorld(t, rbf(), inputs(5, 2, 1), inputs(1, 2, 2)).prior
	omega := []float64{0.3, 0.05, 0, 0.2, 0.6}
	kappa := []float64{0.5, -0.5, 0, 0.5, 0.5}
	for name, c := range map[string]struct {
		prior Prior
		k     blas64.General
	}{"full": {full, full.k}, "singular": {function, k}, "weights": {weight, k}} {
		mean, cov := exact(t, c.k, omega, kappa)
		s := newSampler(c.prior, kappa)
		rng := random.Stream(1, "test")
		f, room := make([]float64, 5), dense.New(c.prior.width(), c.prior.width())
		var sum [5]float64
		var squares [5][5]float64
		for range draws {
			must.Do(t, s.draw(f, omega, room, rng))
			for i := range f {
				sum[i] += f[i] / draws
				for j := range f {
					squares[i][j] += (f[i] - mean[i]) * (f[j] - mean[j]) / draws
				}
			}
		}
		for i := range f {
			if z := (sum[i] - mean[i]) / math.Sqrt(cov.At(i, i)/draws); math.Abs(z) > 5 {
				t.Errorf("%s: mean %d off by %.1f standard errors", name, i, z)
			}
			for j := range f {
				e := math.Sqrt((cov.At(i, i)*cov.At(j, j) + cov.At(i, j)*cov.At(i, j)) / draws)
				if z := (squares[i][j] - cov.At(i, j)) / e; math.Abs(z) > 5 {
					t.Errorf("%s: covariance %d, %d off by %.1f standard errors", name, i, j, z)
				}
			}
		}
	}
}

// exact returns K − KΩ^½B⁻¹Ω^½K and that times κ.
func exact(t testing.TB, k blas64.General, omega, kappa []float64) ([]float64, *mat.Dense) {
	t.Helper()
	n := len(omega)
	half := mat.NewDiagDense(n, nil)
	for i, w := range omega {
		half.SetDiag(i, math.Sqrt(w))
	}
	K := denseOf(k)
	var b, cov mat.Dense
	b.Product(half, K, half)
	for i := range n {
		b.Set(i, i, b.At(i, i)+1)
	}
	cov.Product(K, half, invDense(t, &b), half, K)
	cov.Sub(K, &cov)
	var mean mat.VecDense
	mean.MulVec(&cov, mat.NewVecDense(n, kappa))
	return mean.RawVector().Data, &cov
}

// posterior integrates the true posterior of f − m at n ≤ 3 inputs on a grid over
// f − m = Lu, and returns its means and second moments; no m means 0.
func posterior(t testing.TB, k blas64.General, yes []bool, m ...float64) (mean []float64, second *mat.Dense) {
	t.Helper()
	const steps, reach = 60, 6.0
	n := k.Rows
	l := dense.Clone(k)
	if !linalg.Factorize(linalg.Gonum{}, l) {
		t.Fatal("singular")
	}
	mean, second = make([]float64, n), mat.NewDense(n, n, nil)
	var total float64
	index := make([]int, n)
	f := make([]float64, n)
	for {
		logp := 0.0
		for i := range n {
			u := -reach + 2*reach*float64(index[i])/steps
			logp -= u * u / 2
		}
		for i := range n {
			f[i] = 0
			for j := range i + 1 {
				f[i] += dense.Row(l, i)[j] * (-reach + 2*reach*float64(index[j])/steps)
			}
			value := f[i]
			if m != nil {
				value += m[i]
			}
			logp -= math.Log1p(math.Exp(-2 * halves(yes)[i] * value))
		}
		p := math.Exp(logp)
		total += p
		for i := range n {
			mean[i] += p * f[i]
			for j := range n {
				second.Set(i, j, second.At(i, j)+p*f[i]*f[j])
			}
		}
		at := 0
		for at < n {
			if index[at]++; index[at] <= steps {
				break
			}
			index[at] = 0
			at++
		}
		if at == n {
			break
		}
	}
	for i := range mean {
		mean[i] /= total
	}
	second.Scale(1/total, second)
	return mean, second
}

// TestGibbsIsThePosterior: a long chain has the moments of the true posterior
// by numerical integration, n ≤ 3.
func TestGibbsIsThePosterior(t *testing.T) {
	for n := 1; n <= 3; n++ {
		w := newWorld(t, rbf(), inputs(n, 2, 7), inputs(1, 2, 2))
		yes := []bool{true, false, true}[:n]
		mean, second := posterior(t, w.k, yes)
		means, squares := longChains(t, w.prior, yes)
		for i := range n {
			within(t, fmt.Sprintf("n = %d, mean %d", n, i), column(means, i), mean[i])
			within(t, fmt.Sprintf("n = %d, square %d", n, i), column(squares, i), second.At(i, i))
		}
	}
}

// longChains returns the means of f − m and of its squares over chains of draws.
func longChains(t *testing.T, p Prior, yes []bool) (means, squares [][3]float64) {
	t.Helper()
	const chains, steps = 20, 2500
	n := len(yes)
	s := newSampler(p, halves(yes))
	means, squares = make([][3]float64, chains), make([][3]float64, chains)
	for c := range chains {
		rng := random.Stream(5, "test", n, c)
		omega, f, room := make([]float64, n), make([]float64, n), dense.New(n, n)
		p.addMean(f)
		drawOmega(omega, f, rng)
		for step := range steps + 50 {
			must.Do(t, s.draw(f, omega, room, rng))
			for i := range f {
				if step >= 50 {
					means[c][i] += f[i] / steps
					squares[c][i] += f[i] * f[i] / steps
				}
			}
			p.addMean(f)
			drawOmega(omega, f, rng)
		}
	}
	return means, squares
}

func column(m [][3]float64, i int) (out []float64) {
	for _, r := range m {
		out = append(out, r[i])
	}
	return out
}

// within compares the mean of independent estimates with the truth: five of
// their standard errors.
func within(t *testing.T, what string, estimates []float64, want float64) {
	t.Helper()
	n := float64(len(estimates))
	var mean, sq float64
	for _, e := range estimates {
		mean += e / n
	}
	for _, e := range estimates {
		sq += (e - mean) * (e - mean)
	}
	if sem := math.Sqrt(sq / (n - 1) / n); math.Abs(mean-want) > 5*sem {
		t.Errorf("%s: %.5f ± %.5f, want %.5f", what, mean, sem, want)
	}
}

// TestMixtureIsTheMarginal: the mixture over chains has the moments of the true
// posterior at the examples and the predictive probability of a new input.
func TestMixtureIsTheMarginal(t *testing.T) {
	x := inputs(3, 2, 9)
	w := newWorld(t, rbf(), x, x)
	yes := []bool{true, true, false}
	g := must.Get(FitGibbs(context.Background(), w.prior, yes, Schedule{Chains: 4000, Steps: 20}, streams(2)))(t)
	l := must.Get(g.Latent(w.rows, w.vars))(t)
	mean, second := posterior(t, w.k, yes)
	variance := make([]float64, 3)
	l.Variances(variance)
	for i := range 3 {
		within(t, fmt.Sprintf("mean %d", i), dense.Row(l.Mean, i), mean[i])
		if want := second.At(i, i) - mean[i]*mean[i]; math.Abs(variance[i]-want) > 0.03*want {
			t.Errorf("variance %d: %g, want %g", i, variance[i], want)
		}
	}
}

// TestSpacesAgree: the linear kernel in weight space and in function space has
// the same conditional, exactly, and the same prediction from many chains.
func TestSpacesAgree(t *testing.T) {
	const n, q, d = 40, 6, 3
	k := kernel.Kernel{Kind: kernel.Linear, Lengthscale: 1, Outputscale: 1}
	x, z := inputs(n, d, 1), inputs(q, d, 2)
	w := newWorld(t, k, x, z)
	weight := must.Get(WeightSpace(x))(t)
	yes := labels(n, 4)
	for i := range yes {
		yes[i] = dense.Row(x, i)[0]+0.5*dense.Row(x, i)[1] > 0
	}
	a := must.Get(FitGibbs(context.Background(), w.prior, yes, Schedule{Chains: 300, Steps: 8}, streams(1)))(t)
	b := must.Get(FitGibbs(context.Background(), weight, yes, Schedule{Chains: 300, Steps: 8}, streams(2)))(t)
	la := must.Get(a.Latent(w.rows, w.vars))(t)
	lb := must.Get(b.Latent(z, nil))(t)
	same := must.Get(NewGibbs(weight, yes, a.Omega()))(t)
	lc := must.Get(same.Latent(z, nil))(t)
	for i := range la.Mean.Data {
		if math.Abs(la.Mean.Data[i]-lc.Mean.Data[i]) > 1e-10 || math.Abs(la.Var.Data[i]-lc.Var.Data[i]) > 1e-10 {
			t.Fatalf("same ω: %g, %g and %g, %g", la.Mean.Data[i], la.Var.Data[i], lc.Mean.Data[i], lc.Var.Data[i])
		}
	}
	va, vb := make([]float64, q), make([]float64, q)
	la.Variances(va)
	lb.Variances(vb)
	for i := range q {
		difference := make([]float64, 300)
		for c := range difference {
			difference[c] = dense.Row(la.Mean, i)[c] - dense.Row(lb.Mean, i)[c]
		}
		within(t, fmt.Sprintf("input %d, difference of means", i), difference, 0)
		if math.Abs(va[i]/vb[i]-1) > 0.25 {
			t.Errorf("input %d: variances %g and %g", i, va[i], vb[i])
		}
	}
}

func TestGibbsRepeats(t *testing.T) {
	w := newWorld(t, rbf(), inputs(30, 3, 1), inputs(70, 3, 2))
	run := func(seed uint64) []float64 {
		g, err := FitGibbs(context.Background(), w.prior, labels(30, 1), Schedule{Chains: 30, Steps: 10}, streams(seed))
		if err != nil {
			t.Fatal(err)
		}
		l := must.Get(g.Latent(w.rows, w.vars))(t)
		return slices.Concat(l.Mean.Data, l.Var.Data)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	many := run(1)
	runtime.GOMAXPROCS(1)
	if !slices.Equal(run(1), many) {
		t.Error("one thread gives other bytes")
	}
	if slices.Equal(run(2), many) {
		t.Error("another seed gives the same bytes")
	}
}

func TestDegenerateNodes(t *testing.T) {
	same := dense.New(6, 2) // one input, six times
	for _, k := range []kernel.Kernel{rbf(), {Kind: kernel.Linear, Normalize: true, Lengthscale: 1, Outputscale: 4}} {
		w := newWorld(t, k, same, inputs(3, 2, 2))
		for _, yes := range [][]bool{labels(6, 1), make([]bool, 6)} {
			g := must.Get(FitGibbs(context.Background(), w.prior, yes, Schedule{Chains: 20, Steps: 1}, streams(0)))(t)
			l := must.Get(g.Latent(w.rows, w.vars))(t)
			a, b := make([]float64, 3), make([]float64, 3)
			for _, by := range []Prediction{Quadrature, PlugIn} {
				l.LogProbs(a, b, by)
				for i := range a {
					if s := math.Exp(a[i]) + math.Exp(b[i]); math.Abs(s-1) > 1e-12 || slices.Min(l.Var.Data) < 0 {
						t.Errorf("%s: sum %g, least variance %g", k.Kind, s, slices.Min(l.Var.Data))
					}
				}
			}
		}
	}
}

func TestGibbsRefuses(t *testing.T) {
	w := newWorld(t, rbf(), inputs(3, 2, 1), inputs(2, 2, 2))
	yes := []bool{true, false, true}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	bad := dense.Clone(w.k)
	bad.Data[4] = math.NaN()
	for name, err := range map[string]error{
		"cancelled": second(FitGibbs(ctx, w.prior, yes, PaperSchedule(), streams(0))),
		"labels":    second(FitGibbs(context.Background(), w.prior, yes[:2], PaperSchedule(), streams(0))),
		"chains":    second(FitGibbs(context.Background(), w.prior, yes, Schedule{Steps: 1}, streams(0))),
		"steps":     second(FitGibbs(context.Background(), w.prior, yes, Schedule{Chains: 1}, streams(0))),
		"no omega":  second(NewGibbs(w.prior, yes, nil)),
		"negative":  second(NewGibbs(w.prior, yes, [][]float64{{0.1, -1, 0.1}})),
		"short":     second(NewGibbs(w.prior, yes, [][]float64{{0.1}})),
		"NaN":       second(FunctionSpace(bad)),
		"oblong":    second(FunctionSpace(w.rows)),
		"empty":     second(WeightSpace(blas64.General{})),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	g := must.Get(FitGibbs(context.Background(), w.prior, yes, PaperSchedule(), streams(0)))(t)
	if _, err := g.Latent(w.rows, nil); err == nil {
		t.Error("no prior variances were accepted")
	}
	if _, err := g.Latent(w.k, w.vars); err == nil {
		t.Error("too many rows were accepted")
	}
	if Prediction("mean").Validate() == nil {
		t.Error("an unknown prediction was accepted")
	}
}

func second[T any](_ T, err error) error { return err }

// TestGibbsOnEveryBackend: the same ω to rounding, and the same predictions.
func TestGibbsOnEveryBackend(t *testing.T) {
	const n, d = 150, 140
	x := inputs(n, d, 1)
	w := newWorld(t, kernel.Kernel{Kind: kernel.RBF, Normalize: true, Lengthscale: 1, Outputscale: 8}, x,
		inputs(1, d, 2))
	weight := must.Get(WeightSpace(x))(t)
	for name, prior := range map[string]Prior{"rbf": w.prior, "linear": weight} {
		want, err := FitGibbs(context.Background(), prior, labels(n, 1), Schedule{Chains: 2, Steps: 3}, streams(1))
		if err != nil {
			t.Fatal(err)
		}
		nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
			got := must.Get(FitGibbs(context.Background(), prior.On(m), labels(n, 1), Schedule{Chains: 2, Steps: 3},
				streams(1)))(t)
			for c, omega := range got.Omega() {
				for i, v := range omega {
					if math.Abs(v-want.Omega()[c][i]) > 1e-9 {
						t.Fatalf("%s: ω of example %d in chain %d is %g, want %g", name, i, c, v, want.Omega()[c][i])
					}
				}
				mine := must.Get(got.given[c]())(t)
				theirs := must.Get(want.given[c]())(t)
				for i, v := range mine.factor.Data {
					if math.Abs(v-theirs.factor.Data[i]) > 1e-9 {
						t.Fatalf("%s: factor %d of chain %d is %g, want %g", name, i, c, v, theirs.factor.Data[i])
					}
				}
			}
		})
	}
}

func BenchmarkFitGibbs(b *testing.B) {
	for _, c := range []struct{ n, d int }{{100, 64}, {300, 64}, {600, 64}} {
		x := inputs(c.n, c.d, 1)
		yes := labels(c.n, 1)
		k := kernel.Kernel{Kind: kernel.RBF, Normalize: true, Lengthscale: 1, Outputscale: 8}
		w := newWorld(b, k, x, inputs(1, c.d, 2))
		weight := must.Get(WeightSpace(x))(b)
		for name, prior := range map[string]Prior{"rbf": w.prior, "linear": weight} {
			for _, s := range []Schedule{PaperSchedule(), {Chains: 10, Steps: 10}} {
				for _, backend := range []string{native.Gonum, native.ONNXRuntime, native.OpenBLAS} {
					b.Run(fmt.Sprintf("%s/n=%d/d=%d/chains=%d/steps=%d/%s", name, c.n, c.d, s.Chains, s.Steps, backend),
						func(b *testing.B) {
							on := prior.On(nativetest.Open(b, backend).Backend)
							for b.Loop() {
								must.Get(FitGibbs(context.Background(), on, yes, s, streams(0)))(b)
							}
						})
				}
			}
		}
	}
}

// TestChainStarts: with no step but the first ω, a chain that starts at a draw has the
// mean of ω that f ~ N(0, K) gives, which is below that of f = 0; in function and in
// weight space. After many steps the start is forgotten.
func TestChainStarts(t *testing.T) {
	x, yes := inputs(6, 3, 1), labels(6, 2)
	w := newWorld(t, kernel.Kernel{Kind: kernel.Linear, Lengthscale: 1, Outputscale: 9}, x, x)
	phi := dense.Clone(x)
	for i := range phi.Data {
		phi.Data[i] *= 3
	}
	for name, prior := range map[string]Prior{"function": w.prior, "weight": must.Get(WeightSpace(phi))(t)} {
		mean := func(start ChainStart, steps int) (sum float64) {
			s := newSampler(prior, halves(yes))
			omega := must.Get(s.run(Schedule{Chains: 2000, Steps: steps, Start: start}, streams(7)))(t)
			for _, chain := range omega {
				for _, v := range chain {
					sum += v / float64(len(chain)*len(omega))
				}
			}
			return sum
		}
		want := 0.0 // of tanh(f/2)/2f, the mean of PG(1, f), over f ~ N(0, K_ii)
		for i := range 6 {
			variance := 9 * dense.SumSquares(dense.Row(x, i))
			const steps = 4000
			for k := range steps {
				z := -8 + 16*(float64(k)+0.5)/steps
				f := math.Sqrt(variance) * z
				want += 16.0 / steps * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * math.Tanh(f/2) / (2 * f) / 6
			}
		}
		// A step draws f given ω, so without one there is only the first ω.
		if at := mean(AtMean, 0); math.Abs(at-0.25) > 0.01 {
			t.Errorf("%s: ω is %g on average from f = 0, want 1/4", name, at)
		}
		if at := mean(AtDraw, 0); math.Abs(at-want) > 0.01 {
			t.Errorf("%s: ω is %g on average from the prior, want %g", name, at, want)
		}
		if a, b := mean(AtMean, 40), mean(AtDraw, 40); math.Abs(a-b) > 0.01 {
			t.Errorf("%s: after 40 steps ω is %g and %g on average", name, a, b)
		}
	}
}
