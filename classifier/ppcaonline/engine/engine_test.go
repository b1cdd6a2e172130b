package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func params(d, q int, sigma2 float64, seed uint64) Params {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := Params{Mean: make([]float64, d), W: dense.New(d, q), Sigma2: sigma2}
	for i := range p.Mean {
		p.Mean[i] = rng.NormFloat64()
	}
	for i := range p.W.Data {
		p.W.Data[i] = rng.NormFloat64()
	}
	return p
}

// sample draws from N(μ, WWᵀ + σ²I).
func sample(p Params, rng *rand.Rand) []float64 {
	x := slices.Clone(p.Mean)
	for j := range p.W.Cols {
		z := rng.NormFloat64()
		for i := range x {
			x[i] += z * p.W.Data[i*p.W.Stride+j]
		}
	}
	for i := range x {
		x[i] += math.Sqrt(p.Sigma2) * rng.NormFloat64()
	}
	return x
}

func samples(p Params, n int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 2))
	out := make([][]float64, n)
	for i := range out {
		out[i] = sample(p, rng)
	}
	return out
}

func gaussian(t *testing.T, p Params) *Gaussian {
	t.Helper()
	return must.Get(NewGaussian(p))(t)
}

func model(t *testing.T, cfg Config, p Params) *Model {
	t.Helper()
	return must.Get(New(cfg, p))(t)
}

func feed(t *testing.T, m *Model, x [][]float64) {
	t.Helper()
	for _, v := range x {
		must.Do(t, m.Step(v))
	}
}

func with(change func(*Config)) Config {
	c := DefaultConfig()
	change(&c)
	return c
}

// settings returns all combinations of settings.
func settings() []Config {
	all := []Config{with(func(c *Config) { c.Policy = None })}
	for _, policy := range []string{Step, Class} {
		for _, fisher := range []string{Exact, Paper} {
			for _, rstep := range []string{Paper, ByFisher, Identity} {
				all = append(all,
					with(func(c *Config) { c.Policy, c.Fisher, c.RStep, c.Beta = policy, fisher, rstep, 0.3 }))
			}
		}
	}
	return all
}

// dense holds the covariance C and its inverse.
func denseOf(p Params) (c *mat.SymDense, inverse *mat.Dense) {
	d := len(p.Mean)
	c, inverse = mat.NewSymDense(d, nil), mat.NewDense(d, d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			v := blas64.Dot(dense.Vector(p.W.Data[i*p.W.Cols:(i+1)*p.W.Cols]),
				dense.Vector(p.W.Data[j*p.W.Cols:(j+1)*p.W.Cols]))
			if i == j {
				v += p.Sigma2
			}
			c.SetSym(i, j, v)
		}
	}
	if err := inverse.Inverse(c); err != nil {
		panic(err)
	}
	return c, inverse
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func TestLogDensityEqualsDense(t *testing.T) {
	for _, c := range []struct {
		d, q   int
		sigma2 float64
	}{{5, 2, 0.7}, {5, 5, 0.7}, {5, 0, 2}, {1, 1, 0.1}, {16, 3, 1e-4}} {
		p := params(c.d, c.q, c.sigma2, 3)
		g := gaussian(t, p)
		cov, inverse := denseOf(p)
		logDet, _ := mat.LogDet(cov)
		near(t, "log-determinant", g.LogDetNats(), logDet, 1e-9)
		for _, x := range samples(p, 20, 4) {
			delta := mat.NewVecDense(c.d, slices.Clone(x))
			delta.SubVec(delta, mat.NewVecDense(c.d, p.Mean))
			want := -(float64(c.d)*math.Log(2*math.Pi) + logDet + mat.Inner(delta, inverse, delta)) / 2
			near(t, fmt.Sprint(c), g.LogDensityNats(x), want, 1e-8)
		}
	}
}

// change returns the parameters with element n moved by h: mean, W, σ².
func change(p Params, n int, h float64) Params {
	d, q := len(p.Mean), p.W.Cols
	out := Params{Mean: slices.Clone(p.Mean), W: dense.New(d, q), Sigma2: p.Sigma2}
	dense.Copy(out.W, p.W)
	switch {
	case n < d:
		out.Mean[n] += h
	case n < d+d*q:
		out.W.Data[n-d] += h
	default:
		out.Sigma2 += h
	}
	return out
}

func flat(f fisherDiagonal) []float64 {
	return append(append(slices.Clone(f.Mean), f.W.Data...), f.Sigma2)
}

// TestFisherEqualsSlepianBangs computes eq. 22 with dense matrices and finite
// differences of C, which are exact except for rounding (C is quadratic).
func TestFisherEqualsSlepianBangs(t *testing.T) {
	for _, c := range []struct{ d, q int }{{6, 2}, {4, 4}, {3, 1}} {
		p := params(c.d, c.q, 0.4, 5)
		_, inverse := denseOf(p)
		got := flat(gaussian(t, p).fisher(Exact))
		for n := range got {
			const h = 1e-3
			up, _ := denseOf(change(p, n, h))
			down, _ := denseOf(change(p, n, -h))
			var dc, a, aa mat.Dense
			dc.Sub(up, down)
			dc.Scale(1/(2*h), &dc)
			a.Mul(inverse, &dc)
			aa.Mul(&a, &a)
			want := mat.Trace(&aa) / 2
			if n < c.d {
				want += inverse.At(n, n)
			}
			near(t, fmt.Sprintf("%v, element %d", c, n), got[n], want, 1e-8)
		}
	}
}

// TestFisherEqualsVarianceOfScore uses draws, with the score by finite
// differences.
func TestFisherEqualsVarianceOfScore(t *testing.T) {
	const d, q, n, h = 4, 2, 20000, 1e-4
	p := params(d, q, 0.5, 6)
	want := flat(gaussian(t, p).fisher(Exact))
	x := samples(p, n, 7)
	for i := range want {
		up, down := gaussian(t, change(p, i, h)), gaussian(t, change(p, i, -h))
		var sum float64
		for _, v := range x {
			score := (up.LogDensityNats(v) - down.LogDensityNats(v)) / (2 * h)
			sum += score * score
		}
		if got := sum / n; math.Abs(got/want[i]-1) > 0.06 {
			t.Errorf("element %d: variance of the score %g, Fisher information %g", i, got, want[i])
		}
	}
}

// TestPaperFisher computes eq. 19–21 as printed, from dense matrices.
func TestPaperFisher(t *testing.T) {
	const d, q = 5, 2
	p := params(d, q, 0.6, 8)
	_, inverse := denseOf(p)
	var squared mat.Dense
	squared.Mul(inverse, inverse)
	f := gaussian(t, p).fisher(Paper)
	for i := range d {
		near(t, "mean", f.Mean[i], squared.At(i, i), 1e-9)
		for j := range q {
			dc := mat.NewDense(d, d, nil) // W·Jᵀ + J·Wᵀ
			for k := range d {
				dc.Set(k, i, dc.At(k, i)+p.W.Data[k*q+j])
				dc.Set(i, k, dc.At(i, k)+p.W.Data[k*q+j])
			}
			var a, aa mat.Dense
			a.Mul(inverse, dc)
			aa.Mul(&a, &a)
			near(t, "W", f.W.Data[i*q+j], mat.Trace(&aa), 1e-9)
		}
	}
	near(t, "σ²", f.Sigma2, mat.Trace(inverse), 1e-9)
}

// byHand computes one step with dense matrices, as in the paper.
func byHand(cfg Config, m *Model, x []float64) Params {
	p, s, k := m.now.Params, m.stats.clone(), m.k+1
	d, q := len(p.Mean), p.W.Cols
	W := mat.NewDense(d, q, slices.Clone(p.W.Data))
	var M, Minv, z, zz, xz mat.Dense
	M.Mul(W.T(), W)
	for j := range q {
		M.Set(j, j, M.At(j, j)+p.Sigma2)
	}
	if err := Minv.Inverse(&M); err != nil {
		panic(err)
	}
	delta := mat.NewDense(d, 1, slices.Clone(x))
	delta.Sub(delta, mat.NewDense(d, 1, slices.Clone(p.Mean)))
	z.Mul(W.T(), delta)
	z.Mul(&Minv, &z)
	zz.Mul(&z, z.T())
	xz.Mul(delta, z.T())
	gamma := math.Min(1, cfg.Gamma*math.Pow(float64(k)+cfg.Offset, -cfg.GammaExponent))
	S1, S2 := mat.NewDense(d, q, slices.Clone(s.S1.Data)), mat.NewDense(q, q, slices.Clone(s.S2.Data))
	Minv.Scale(p.Sigma2, &Minv)
	Minv.Add(&Minv, &zz)
	mix := func(S *mat.Dense, new *mat.Dense) {
		S.Apply(func(i, j int, v float64) float64 { return v + gamma*(new.At(i, j)-v) }, S)
	}
	mix(S1, &xz)
	mix(S2, &Minv)
	s0 := s.S0 + gamma*(mat.Dot(delta.ColView(0), delta.ColView(0))-s.S0)
	next := Params{Mean: s.S3, W: dense.New(d, q)}
	for i := range x {
		next.Mean[i] += gamma * (x[i] - next.Mean[i])
	}
	var inverse, W2, t1, t2 mat.Dense
	if err := inverse.Inverse(S2); err != nil {
		panic(err)
	}
	W2.Mul(S1, &inverse)
	t1.Mul(S1, W2.T())
	t2.Mul(W2.T(), &W2)
	t2.Mul(S2, &t2)
	next.Sigma2 = (s0 - 2*mat.Trace(&t1) + mat.Trace(&t2)) / float64(d)
	copy(next.W.Data, W2.RawMatrix().Data)
	return pulledByHand(cfg, m, next, k)
}

func pulledByHand(cfg Config, m *Model, next Params, k int) Params {
	ref := m.now
	if cfg.Policy == Class {
		ref = m.ref
	}
	if cfg.Policy == None || ref == nil {
		return next
	}
	f := flat(ref.fisher(cfg.Fisher))
	a := make([]float64, len(f))
	for i := range f {
		beta := cfg.Beta * math.Pow(float64(k), -cfg.BetaExponent)
		a[i] = math.Min(1, map[string]float64{Paper: beta / f[i], ByFisher: beta * f[i], Identity: beta}[cfg.RStep])
	}
	d := len(next.Mean)
	for i := range next.Mean {
		next.Mean[i] -= a[i] * (next.Mean[i] - ref.Mean[i])
	}
	for i := range next.W.Data {
		next.W.Data[i] -= a[d+i] * (next.W.Data[i] - ref.W.Data[i])
	}
	next.Sigma2 -= a[len(a)-1] * (next.Sigma2 - ref.Sigma2)
	return next
}

func TestStepEqualsPaperByHand(t *testing.T) {
	truth := params(6, 2, 0.3, 1)
	for _, cfg := range settings() {
		m := model(t, cfg, params(6, 2, 1, 2))
		for i, x := range samples(truth, 30, 3) {
			want := byHand(cfg, m, x)
			feed(t, m, [][]float64{x})
			got := m.Gaussian().Params
			for j := range want.Mean {
				near(t, "mean", got.Mean[j], want.Mean[j], 1e-9)
			}
			for j := range want.W.Data {
				near(t, "W", got.W.Data[j], want.W.Data[j], 1e-8)
			}
			near(t, "σ²", got.Sigma2, want.Sigma2, 1e-8)
			if t.Failed() {
				t.Fatalf("step %d of %+v", i+1, cfg)
			}
			if i%7 == 6 {
				m.EndClass()
			}
		}
	}
}

// TestTheStartIsAFixedPoint checks that an M-step on the initial statistics
// changes nothing.
func TestTheStartIsAFixedPoint(t *testing.T) {
	p := params(7, 3, 0.2, 4)
	got := must.Get(model(t, DefaultConfig(), p).maximise())(t)
	near(t, "σ²", got.Sigma2, p.Sigma2, 1e-10)
	for i := range p.W.Data {
		near(t, "W", got.W.Data[i], p.W.Data[i], 1e-10)
	}
}

// batch returns the maximum-likelihood solution (Tipping and Bishop 1999).
func batch(x [][]float64, q int) Params {
	d := len(x[0])
	rows := mat.NewDense(len(x), d, nil)
	p := Params{Mean: make([]float64, d), W: dense.New(d, q)}
	for i, v := range x {
		rows.SetRow(i, v)
		for j := range v {
			p.Mean[j] += v[j] / float64(len(x))
		}
	}
	S := mat.NewSymDense(d, nil)
	for _, v := range x {
		delta := mat.NewVecDense(d, nil)
		delta.SubVec(mat.NewVecDense(d, v), mat.NewVecDense(d, p.Mean))
		S.SymRankOne(S, 1/float64(len(x)), delta)
	}
	var e mat.EigenSym
	e.Factorize(S, true)
	var V mat.Dense
	e.VectorsTo(&V)
	values := e.Values(nil)
	for _, v := range values[:d-q] {
		p.Sigma2 += v / float64(d-q)
	}
	for j := range q {
		scale := math.Sqrt(values[d-1-j] - p.Sigma2)
		for i := range d {
			p.W.Data[i*q+j] = scale * V.At(i, d-1-j)
		}
	}
	return p
}

// TestBatchSolutionIsAFixedPoint checks that an M-step with the statistics of
// all data at the maximum of the likelihood stays there.
func TestBatchSolutionIsAFixedPoint(t *testing.T) {
	x := samples(params(8, 3, 0.3, 1), 200, 2)
	p := batch(x, 3)
	m := model(t, with(func(c *Config) { c.Policy, c.Gamma, c.GammaExponent = None, 1, 1 }), p)
	for _, v := range x { // γ = 1/k: plain averages, at fixed parameters
		m.k++
		m.expect(v)
	}
	got := must.Get(m.maximise())(t)
	near(t, "σ²", got.Sigma2, p.Sigma2, 1e-9)
	for i := range p.W.Data {
		near(t, "W", got.W.Data[i], p.W.Data[i], 1e-9)
	}
	for i := range p.Mean {
		near(t, "mean", got.Mean[i], p.Mean[i], 1e-9)
	}
}

// meanLogDensity returns the mean log-density of the examples, in nats.
func meanLogDensity(g *Gaussian, x [][]float64) float64 {
	var sum float64
	for _, v := range x {
		sum += g.LogDensityNats(v) / float64(len(x))
	}
	return sum
}

// TestAgreesWithBatchOnIID checks that after 20 000 independent examples every
// setting is within 0.02 nats per example of the maximum of the likelihood on
// them, its covariance within 15 % and σ² within 5 %. No class has ended for
// the class policy here.
func TestAgreesWithBatchOnIID(t *testing.T) {
	truth := params(8, 2, 0.3, 11)
	x := samples(truth, 20000, 12)
	best := gaussian(t, batch(x, 2))
	want := meanLogDensity(best, x)
	cov, _ := denseOf(best.Params)
	for _, cfg := range settings() {
		m := model(t, cfg, params(8, 2, 1, 13))
		feed(t, m, x)
		if gap := want - meanLogDensity(m.Gaussian(), x); gap < -1e-9 || gap > 0.02 {
			t.Errorf("%s, %s, %s: %.4f nats from the maximum", cfg.Policy, cfg.Fisher, cfg.RStep, gap)
		}
		got, _ := denseOf(m.Gaussian().Params)
		var diff mat.Dense
		diff.Sub(got, cov)
		if off := mat.Norm(&diff, 2) / mat.Norm(cov, 2); off > 0.15 {
			t.Errorf("%s, %s, %s: the covariance is off by %.3f", cfg.Policy, cfg.Fisher, cfg.RStep, off)
		}
		if off := m.Gaussian().Sigma2/best.Sigma2 - 1; math.Abs(off) > 0.05 {
			t.Errorf("%s, %s, %s: σ² is off by %.3f", cfg.Policy, cfg.Fisher, cfg.RStep, off)
		}
	}
}

// TestInvariance checks that shifting data and start shifts the model, that
// rotations do the same if no coordinate is special (no Fisher diagonal), and
// that scaling by s scales W by s and σ² by s².
func TestInvariance(t *testing.T) {
	const d, q = 5, 2
	start, x := params(d, q, 1, 1), samples(params(d, q, 0.3, 2), 200, 3)
	Q := orthogonal(d, 4)
	for _, cfg := range settings() {
		plain := model(t, cfg, start)
		feed(t, plain, x)
		want := meanLogDensity(plain.Gaussian(), x)
		for name, f := range map[string]func([]float64) []float64{
			"shift": func(v []float64) []float64 { return added(v, 100) }, "permutation": reversed,
			"rotation": func(v []float64) []float64 { return rotated(Q, v) },
		} {
			if name == "rotation" && cfg.Policy != None && cfg.RStep != Identity {
				continue
			}
			moved := Params{Mean: f(start.Mean), W: dense.New(d, q), Sigma2: start.Sigma2}
			for j := range q {
				column := make([]float64, d)
				for i := range d {
					column[i] = start.W.Data[i*q+j]
				}
				if name != "shift" {
					column = f(column)
				}
				for i := range d {
					moved.W.Data[i*q+j] = column[i]
				}
			}
			var y [][]float64
			for _, v := range x {
				y = append(y, f(v))
			}
			m := model(t, cfg, moved)
			feed(t, m, y)
			near(t, name, meanLogDensity(m.Gaussian(), y), want, 1e-8)
		}
	}
}

func added(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] + by
	}
	return out
}

func reversed(v []float64) []float64 {
	out := slices.Clone(v)
	slices.Reverse(out)
	return out
}

func rotated(q *mat.Dense, v []float64) []float64 {
	var out mat.VecDense
	out.MulVec(q, mat.NewVecDense(len(v), v))
	return out.RawVector().Data
}

func orthogonal(d int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 9))
	a := mat.NewDense(d, d, nil)
	a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

// TestStrongestPullStays checks that the step policy never leaves the start if
// every share is clamped, and that it counts this.
func TestStrongestPullStays(t *testing.T) {
	start := params(4, 2, 0.5, 1)
	for _, rstep := range []string{Paper, ByFisher, Identity} {
		m := model(t, with(func(c *Config) { c.RStep, c.Beta, c.BetaExponent = rstep, 1e9, 0 }), start)
		feed(t, m, samples(start, 10, 2))
		got := m.Gaussian().Params
		for i := range start.Mean {
			near(t, "mean", got.Mean[i], start.Mean[i], 1e-12)
		}
		near(t, "σ²", got.Sigma2, start.Sigma2, 1e-12)
		if want := 10 * (4 + 8 + 1); m.Pulls() != (Pulls{All: want, Clamped: want}) {
			t.Errorf("%s: %+v, want %d of both", rstep, m.Pulls(), want)
		}
	}
}

// TestWithoutPullAllPoliciesAreOne covers β = 0, and the class policy before
// the first class ends.
func TestWithoutPullAllPoliciesAreOne(t *testing.T) {
	start := params(4, 2, 0.5, 1)
	x := samples(params(4, 2, 0.2, 2), 50, 3)
	plain := model(t, with(func(c *Config) { c.Policy = None }), start)
	feed(t, plain, x)
	for _, cfg := range []Config{with(func(c *Config) { c.Beta = 0 }), with(func(c *Config) { c.Policy = Class })} {
		m := model(t, cfg, start)
		feed(t, m, x)
		if !reflect.DeepEqual(m.Gaussian(), plain.Gaussian()) {
			t.Errorf("%s with β %g differs from none", cfg.Policy, cfg.Beta)
		}
	}
}

// TestDegenerateData checks that no input produces a NaN.
func TestDegenerateData(t *testing.T) {
	const d = 4
	repeat := func(n int, f func(i int) []float64) [][]float64 {
		var x [][]float64
		for i := range n {
			x = append(x, f(i))
		}
		return x
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, x := range map[string][][]float64{
		"one":         repeat(1, func(int) []float64 { return []float64{1, 2, 3, 4} }),
		"equal":       repeat(500, func(int) []float64 { return []float64{1, 2, 3, 4} }),
		"zero":        repeat(100, func(int) []float64 { return make([]float64, d) }),
		"a line":      repeat(300, func(i int) []float64 { return []float64{float64(i % 7), 0, 0, 0} }),
		"huge":        repeat(50, func(int) []float64 { return []float64{1e30 * rng.NormFloat64(), 1e30, 0, 1} }),
		"tiny":        repeat(50, func(int) []float64 { return []float64{1e-30 * rng.NormFloat64(), 1e-30, 0, 0} }),
		"alternating": repeat(200, func(i int) []float64 { return []float64{float64(i%2) * 1e6, -1, 1, 0} }),
	} {
		for _, cfg := range settings() {
			for _, start := range []Params{params(d, 2, 1, 3), params(d, d, 1e-12, 4), params(d, 0, 1e-12, 5),
				params(d, 1, 1e6, 6)} {
				m := model(t, cfg, start)
				feed(t, m, x)
				g := m.Gaussian()
				if v := g.LogDensityNats(x[0]); math.IsNaN(v) || math.IsInf(v, 0) || !(g.Sigma2 >= cfg.MinSigma2) {
					t.Fatalf("%s, %+v: log-density %g, σ² %g", name, cfg, v, g.Sigma2)
				}
				f := g.fisher(cfg.Fisher)
				for _, v := range flat(f) {
					if math.IsNaN(v) || v < 0 {
						t.Fatalf("%s, %+v: Fisher information %g", name, cfg, v)
					}
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for field, c := range map[string]Config{
		"policy": with(func(c *Config) { c.Policy = "often" }), "fisher": with(func(c *Config) { c.Fisher = "" }),
		"rstep":          with(func(c *Config) { c.RStep = "x" }),
		"gamma":          with(func(c *Config) { c.Gamma = 1.1 }),
		"gamma_exponent": with(func(c *Config) { c.GammaExponent = math.NaN() }),
		"offset":         with(func(c *Config) { c.Offset = -1 }),
		"beta":           with(func(c *Config) { c.Beta = -1 }),
		"beta_exponent":  with(func(c *Config) { c.BetaExponent = -1 }),
		"min_sigma2":     with(func(c *Config) { c.MinSigma2 = -1 }),
	} {
		if _, err := New(c, params(3, 1, 1, 1)); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
	for name, p := range map[string]Params{
		"σ²": params(3, 1, 0, 1), "q": params(2, 3, 1, 1), "nothing": {Sigma2: 1}, "NaN": params(3, 1, math.NaN(), 1),
	} {
		if _, err := New(DefaultConfig(), p); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	m := model(t, DefaultConfig(), params(3, 1, 1, 1))
	before := m.Clone()
	for _, x := range [][]float64{{1, 2}, {1, math.NaN(), 3}, {math.Inf(1), 0, 0}} {
		if err := m.Step(x); err == nil || !reflect.DeepEqual(m, before) {
			t.Errorf("%v: %v", x, err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct{ d, q int }{{16, 3}, {192, 20}, {640, 20}, {1280, 20}, {640, 5}, {640, 80}} {
		for _, policy := range []string{None, Step} {
			b.Run(fmt.Sprintf("d=%d_q=%d_policy=%s", c.d, c.q, policy), func(b *testing.B) {
				m := must.Get(New(with(func(cfg *Config) { cfg.Policy = policy }), params(c.d, c.q, 1, 1)))(b)
				x := samples(params(c.d, c.q, 1, 2), 16, 3)
				for i := 0; b.Loop(); i++ {
					must.Do(b, m.Step(x[i%16]))
				}
			})
		}
	}
}
