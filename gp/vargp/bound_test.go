package vargp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func normals(rows, cols int, scale float64, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := dense.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return m
}

func testConfig(v Variant, own bool) Config {
	c := DefaultConfig()
	c.Variant, c.OwnInputs, c.Jitter, c.Seed, c.Beta = v, own, 1e-3, 5, 1.7
	return c
}

// learned returns a model of three heads with two blocks whose parameters are
// arbitrary, and the one before.
func learned(t testing.TB, c Config) (m, old *Model) { return learnedTasks(t, c, 2) }

func learnedTasks(t testing.TB, c Config, tasks int) (m, old *Model) {
	t.Helper()
	m = must.Get(New(c, 2, 3, 0.9))(t)
	for task := range tasks {
		old = m.Clone()
		var inputs []blas64.General
		for g := range m.groups {
			inputs = append(inputs, normals(4-task%2, 2, 1, uint64(10*task+g)))
		}
		must.Do(t, m.extend(inputs))
		first := len(m.groups[0].blocks) - 1
		p := m.pack(first)
		for i, v := range normals(1, len(p), 0.3, uint64(50+task)).Data {
			p[i] += v
		}
		m.unpack(p, first)
		m.tasks++
	}
	m.tasks--
	return m, old
}

var someBatch = batch{x: normals(5, 2, 1, 77), y: []int{0, 2, 1, 1, 0}, scale: 3}

func fixed(s int) *rand.Rand { return rand.New(rand.NewPCG(9, uint64(s))) }

// each runs a test for every variant with shared and with own inputs.
func each(t *testing.T, test func(t *testing.T, c Config)) {
	for _, v := range Variants() {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/own=%v", v, own), func(t *testing.T) { test(t, testConfig(v, own)) })
		}
	}
}

// eachNetwork runs a test with networks in front of the kernel.
func eachNetwork(t *testing.T, test func(t *testing.T, c Config)) {
	for _, v := range []Variant{Full, BlockDiagonal, PointHypers} {
		for _, widths := range [][]int{{3}, {4, 3}, {4, 5, 2}} {
			t.Run(fmt.Sprintf("%s/network=%v", v, widths), func(t *testing.T) {
				c := testConfig(v, false)
				c.Network, c.Jitter = widths, 0.05 // a network may put inputs close together
				test(t, c)
			})
		}
	}
	t.Run("own inputs/network", func(t *testing.T) {
		c := testConfig(Full, true)
		c.Network, c.Jitter = []int{4, 3}, 0.05
		test(t, c)
	})
}

// TestGradients: central differences of the negative bound with respect to every
// parameter, relative error at most 1e-5. RetrainPublished leaves the last term out
// of all derivatives except those with respect to θ, which TestPublished checks.
func TestGradients(t *testing.T) { each(t, checkGradients) }

// TestNetworkGradients: the same, of the parameters of a network too.
func TestNetworkGradients(t *testing.T) { eachNetwork(t, checkGradients) }

func checkGradients(t *testing.T, c Config) {
	m, old := learned(t, c)
	p := newProblem(m, old)
	at := m.pack(p.first)
	loss := func() float64 {
		m.unpack(at, p.first)
		terms, _ := must.Get2(p.evaluate(context.Background(), someBatch, fixed))(t)
		if c.Variant == RetrainPublished {
			terms.Correction = 0
		}
		return terms.loss(c.Beta)
	}
	loss()
	_, gradient, err := p.evaluate(context.Background(), someBatch, fixed)
	if err != nil || len(gradient) != len(at) {
		t.Fatalf("%d derivatives of %d parameters, %v", len(gradient), len(at), err)
	}
	for i, old := range at {
		if n := len(m.mean); c.Variant == PointHypers && i >= n && i < 2*n {
			continue // log-variances play no part
		}
		if c.Variant == RetrainPublished && i < 2*len(m.mean) {
			continue
		}
		const h = 1e-5
		at[i] = old + h
		up := loss()
		at[i] = old - h
		want := (up - loss()) / (2 * h)
		at[i] = old
		if math.Abs(gradient[i]-want) > 1e-5*max(math.Abs(want), 5e-2) {
			t.Errorf("parameter %d: %.10g, central difference %.10g", i, gradient[i], want)
		}
	}
}

// TestTemperature: the gradient at 1/w is that of w copies of each example and w·β,
// divided by w.
func TestTemperature(t *testing.T) {
	const w = 20
	each(t, func(t *testing.T, c Config) {
		gradient := func(temperature, copies, beta float64) []float64 {
			c.Beta = beta
			m, old := learned(t, c)
			p := newProblem(m, old)
			p.temperature = temperature
			b := someBatch
			b.scale *= copies
			_, g := must.Get2(p.evaluate(context.Background(), b, fixed))(t)
			return g
		}
		cold, copied := gradient(1.0/w, 1, 1.7), gradient(1, w, 1.7*w)
		for i, v := range copied {
			if math.Abs(cold[i]-v/w) > 1e-10*max(1, math.Abs(v)) {
				t.Fatalf("parameter %d: %g at a temperature of 1/%d, %g of copies", i, cold[i], w, v/w)
			}
		}
	})
}

// denseHead is one head's q(u_≤t|θ) as eq. 22 writes it.
type denseHead struct {
	k, cov *mat.Dense
	mean   *mat.VecDense
	sizes  []int
	chol   []*mat.Dense // S_t
	m      []*mat.VecDense
	z      blas64.General
}

func denseOf(m *Model, head int, theta []float64) denseHead {
	at := m.home[head]
	g := m.groups[at.group]
	d := denseHead{}
	d.z, d.sizes = g.all()
	d.k = denseKernel(theta, d.z, d.z)
	for i := range d.z.Rows {
		d.k.Set(i, i, d.k.At(i, i)+m.cfg.Jitter)
	}
	for _, b := range g.blocks {
		l := asDense(b.chol[at.row])
		var s mat.Dense
		s.Mul(l, l.T())
		d.chol = append(d.chol, &s)
		d.m = append(d.m, mat.NewVecDense(b.mean.Cols, append([]float64{}, dense.Row(b.mean, at.row)...)))
	}
	n := d.z.Rows
	d.mean, d.cov = mat.NewVecDense(n, nil), mat.NewDense(n, n, nil)
	from := 0
	for t, size := range d.sizes {
		mean, cov := mat.VecDenseCopyOf(d.m[t]), mat.DenseCopyOf(d.chol[t])
		if from > 0 && m.cfg.autoRegressive() {
			a := d.conditional(from, size)
			var am mat.VecDense
			am.MulVec(a, d.mean.SliceVec(0, from))
			mean.AddVec(mean, &am)
			var as, asa mat.Dense
			as.Mul(a, d.cov.Slice(0, from, 0, from))
			asa.Mul(&as, a.T())
			cov.Add(cov, &asa)
			d.cov.Slice(from, from+size, 0, from).(*mat.Dense).Copy(&as)
			d.cov.Slice(0, from, from, from+size).(*mat.Dense).Copy(as.T())
		}
		d.mean.SliceVec(from, from+size).(*mat.VecDense).CopyVec(mean)
		d.cov.Slice(from, from+size, from, from+size).(*mat.Dense).Copy(cov)
		from += size
	}
	return d
}

// conditional is A_t = K_{t,<t}·K_{<t,<t}⁻¹.
func (d denseHead) conditional(from, size int) *mat.Dense {
	var inv, a mat.Dense
	if err := inv.Inverse(d.k.Slice(0, from, 0, from)); err != nil {
		panic(err)
	}
	a.Mul(d.k.Slice(from, from+size, 0, from), &inv)
	return &a
}

func asDense(m blas64.General) *mat.Dense {
	return mat.NewDense(m.Rows, m.Cols, append([]float64{}, m.Data...))
}

func denseKernel(theta []float64, a, b blas64.General) *mat.Dense {
	k := mat.NewDense(a.Rows, b.Rows, nil)
	for i := range a.Rows {
		for j := range b.Rows {
			sq := 0.0
			for c := range a.Cols {
				r := (a.Data[i*a.Stride+c] - b.Data[j*b.Stride+c]) / math.Exp(theta[1+c])
				sq += r * r
			}
			k.Set(i, j, math.Exp(2*theta[0])*math.Exp(-sq/2))
		}
	}
	return k
}

// at returns mean and covariance of the function at x, with jitter.
func (d denseHead) at(theta []float64, x blas64.General, jitter float64) (*mat.VecDense, *mat.Dense) {
	var inv, w, wk, ws, cov mat.Dense
	if err := inv.Inverse(d.k); err != nil {
		panic(err)
	}
	kx := denseKernel(theta, x, d.z)
	w.Mul(kx, &inv)
	var mean mat.VecDense
	mean.MulVec(&w, d.mean)
	wk.Mul(&w, kx.T())
	ws.Mul(&w, d.cov)
	cov.Mul(&ws, w.T())
	cov.Sub(&cov, &wk)
	cov.Add(&cov, denseKernel(theta, x, x))
	for i := range x.Rows {
		cov.Set(i, i, cov.At(i, i)+jitter)
	}
	return &mean, &cov
}

// TestMarginals: what the graph and what predictions compute is eq. 22 with
// dense inverses.
func TestMarginals(t *testing.T) {
	each(t, func(t *testing.T, c Config) {
		m, _ := learned(t, c)
		q := must.Get(m.predictor(1, 1))(t)
		x := normals(6, 2, 1.2, 4)
		theta := q.draws[0].theta
		mean, v := dense.New(6, 3), dense.New(6, 3)
		must.Do(t, q.marginals(mean, v, x, 0))
		graphMean, graphVar := graphMarginals(t, m, theta, x)
		for h := range 3 {
			wantMean, wantCov := denseOf(m, h, theta).at(theta, x, 0)
			row := m.rows()[h]
			for i := range 6 {
				for what, got := range map[string][2]float64{
					"prediction": {mean.Data[i*3+h], v.Data[i*3+h]},
					"graph":      {graphMean.Data[row*6+i], graphVar.Data[row*6+i]},
				} {
					if math.Abs(got[0]-wantMean.AtVec(i)) > 1e-9 || math.Abs(got[1]-wantCov.At(i, i)) > 1e-9 {
						t.Errorf("%s, head %d, input %d: %v, want %g and %g", what, h, i, got, wantMean.AtVec(i),
							wantCov.At(i, i))
					}
				}
			}
		}
	})
}

func graphMarginals(t *testing.T, m *Model, theta []float64, x blas64.General) (mean, v blas64.General) {
	t.Helper()
	gr := &autodiff.Graph{}
	p := newProblem(m, m)
	var means, variances []*autodiff.Var
	for g := range m.groups {
		s := must.Get(newHeadGroup(gr, m.cfg, autodiff.Constant(blas64.General{Rows: 1, Cols: len(theta),
			Stride: len(theta), Data: theta}), p.leaves(g, p.view(x).z[g], p.trainedRows()[g]), p.whole[g]))(t)
		a, b := s.marginals(pointsAt(s.theta, autodiff.Constant(x)))
		means, variances = append(means, a), append(variances, b)
	}
	return gr.Stack(means...).Value, gr.Stack(variances...).Value
}

// logGauss is the log-density of N(mean, cov) at x.
func logGauss(x, mean *mat.VecDense, cov *mat.Dense) float64 {
	n := x.Len()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (cov.At(i, j)+cov.At(j, i))/2)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		panic("not positive definite")
	}
	var r, sol mat.VecDense
	r.SubVec(x, mean)
	if err := chol.SolveVecTo(&sol, &r); err != nil {
		panic(err)
	}
	return -0.5 * (mat.Dot(&r, &sol) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
}

// draw draws from N(mean, cov).
func drawGauss(mean *mat.VecDense, cov *mat.Dense, rng *rand.Rand) *mat.VecDense {
	n := mean.Len()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (cov.At(i, j)+cov.At(j, i))/2)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		panic("not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	var out mat.VecDense
	out.MulVec(&l, z)
	out.AddVec(&out, mean)
	return &out
}

// TestBoundAgainstMonteCarlo: every term except the likelihood is the mean over
// draws of unsimplified log-densities, and the likelihood is the mean over draws of
// u and then of f given u.
func TestBoundAgainstMonteCarlo(t *testing.T) {
	if testing.Short() {
		t.Skip("draws in one goroutine")
	}
	each(t, func(t *testing.T, c Config) {
		c.HyperSamples, c.FunctionSamples = 1, 500
		m, old := learned(t, c)
		for i := range m.logVar {
			m.logVar[i] = -60 // one θ
		}
		p := newProblem(m, old)
		terms, _ := must.Get2(p.evaluate(context.Background(), someBatch, fixed))(t)
		mc := monteCarlo(t, p, old)
		for what, v := range map[string][2]float64{
			"inducing":   {terms.Inducing, 0},
			"correction": {terms.Correction, 1},
			"likelihood": {terms.NLL / someBatch.scale, 2},
		} {
			mean, sd := mc[int(v[1])].of()
			if math.Abs(mean-v[0]) > 10*sd+1e-9 { // the likelihood has separate, fewer draws
				t.Errorf("%s: %g, %g ± %g by Monte Carlo", what, v[0], mean, sd)
			}
		}
	})
}

// A tally is the mean of draws and its standard error.
type tally struct{ n, sum, sq float64 }

func (a *tally) add(v float64) { a.n, a.sum, a.sq = a.n+1, a.sum+v, a.sq+v*v }

func (a *tally) of() (mean, sd float64) {
	mean = a.sum / a.n
	return mean, math.Sqrt(max(a.sq/a.n-mean*mean, 0) / a.n)
}

func monteCarlo(t *testing.T, p *problem, old *Model) [3]tally {
	t.Helper()
	var out [3]tally
	rng := rand.New(rand.NewPCG(3, 3))
	theta := p.m.mean
	heads := make([]denseHead, 3)
	before := make([]denseHead, 3)
	for h := range heads {
		heads[h] = denseOf(p.m, h, theta)
		if p.anchors[0] != nil {
			before[h] = denseOf(old, h, theta)
		}
	}
	for range 800 {
		var divergence, correction float64
		f := dense.New(3, someBatch.x.Rows)
		for h, d := range heads {
			u := drawGauss(d.mean, d.cov, rng)
			if p.m.cfg.Variant == BlockDiagonalPublished { // its u_t is not the one that predicts
				divergence += d.logRatio(d.masked(u, rng), p.first, false)
			} else {
				divergence += d.logRatio(u, p.first, p.m.cfg.autoRegressive())
			}
			mean, cov := d.given(theta, someBatch.x, u, 1e-9)
			copy(dense.Row(f, h), drawGauss(mean, cov, rng).RawVector().Data)
			if p.anchors[0] != nil {
				b := before[h]
				mean, cov := d.given(theta, b.z, u, p.m.cfg.Jitter)
				v := drawGauss(mean, cov, rng)
				correction += logGauss(v, mat.NewVecDense(v.Len(), nil), b.k) - logGauss(v, b.mean, b.cov)
			}
		}
		nll := 0.0
		for i, y := range someBatch.y {
			sum := 0.0
			for h := range 3 {
				sum += math.Exp(f.Data[h*f.Stride+i])
			}
			nll += math.Log(sum) - f.Data[y*f.Stride+i]
		}
		out[0].add(divergence)
		out[1].add(correction)
		out[2].add(nll)
	}
	return out
}

// masked is u with its last block drawn from N(m_t, S_t).
func (d denseHead) masked(u *mat.VecDense, rng *rand.Rand) *mat.VecDense {
	t := len(d.sizes) - 1
	out := mat.VecDenseCopyOf(u)
	out.SliceVec(u.Len()-d.sizes[t], u.Len()).(*mat.VecDense).CopyVec(drawGauss(d.m[t], d.chol[t], rng))
	return out
}

// logRatio is log q(u_t|u_<t) − log p(u_t|u_<t) of the trained blocks.
func (d denseHead) logRatio(u *mat.VecDense, first int, auto bool) float64 {
	from, sum := 0, 0.0
	for t, size := range d.sizes {
		now := mat.VecDenseCopyOf(u.SliceVec(from, from+size))
		prior, cov := mat.NewVecDense(size, nil), mat.DenseCopyOf(d.k.Slice(from, from+size, from, from+size))
		mean := mat.VecDenseCopyOf(d.m[t])
		if from > 0 {
			a := d.conditional(from, size)
			prior.MulVec(a, u.SliceVec(0, from))
			var ak mat.Dense
			ak.Mul(a, d.k.Slice(0, from, from, from+size))
			cov.Sub(cov, &ak)
			if auto {
				mean.AddVec(mean, prior)
			}
		}
		if t >= first {
			sum += logGauss(now, mean, d.chol[t]) - logGauss(now, prior, cov)
		}
		from += size
	}
	return sum
}

// given is p(f(x)|u).
func (d denseHead) given(theta []float64, x blas64.General, u *mat.VecDense, jitter float64) (*mat.VecDense,
	*mat.Dense) {
	e := d
	e.mean, e.cov = u, mat.NewDense(u.Len(), u.Len(), nil)
	return e.at(theta, x, jitter)
}

// TestHypersDivergence is that of two Gaussians, by quadrature.
func TestHypersDivergence(t *testing.T) {
	m, old := learned(t, testConfig(Full, false))
	old.mean[1], old.logVar[1] = 0.4, -2
	p := newProblem(m, old)
	terms, _ := must.Get2(p.evaluate(context.Background(), someBatch, fixed))(t)
	want := 0.0
	for i, mu := range m.mean {
		sd, sd0 := math.Exp(m.logVar[i]/2), math.Exp(old.logVar[i]/2)
		const steps = 20000
		for k := range steps {
			z := -8 + 16*(float64(k)+0.5)/steps
			q := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			r := (mu + sd*z - old.mean[i]) / sd0
			want += 16.0 / steps * q * (-z*z/2 - math.Log(sd) + r*r/2 + math.Log(sd0))
		}
	}
	if math.Abs(terms.Hypers-want) > 1e-6*want {
		t.Errorf("%g, want %g", terms.Hypers, want)
	}
}
