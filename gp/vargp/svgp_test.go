package vargp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// svgp is the bound of a sparse variational GP (Hensman et al. 2015) with a
// softmax likelihood, from the formulas of that paper. It shares nothing with the
// package except the parameters and, if given, the draws.
type svgp struct {
	k, inverse *mat.Dense
	kx         *mat.Dense // M×B
	gamma2     float64
	mean       []*mat.VecDense
	cov        []*mat.Dense
}

func newSVGP(m *Model, x blas64.General) svgp {
	b := m.groups[0].blocks[0]
	n := b.z.Rows
	s := svgp{k: denseKernel(m.mean, b.z, b.z), inverse: &mat.Dense{}, kx: denseKernel(m.mean, b.z, x),
		gamma2: math.Exp(2 * m.mean[0])}
	for i := range n {
		s.k.Set(i, i, s.k.At(i, i)+m.cfg.Jitter)
	}
	if err := s.inverse.Inverse(s.k); err != nil {
		panic(err)
	}
	for h := range m.Heads() {
		l := asDense(b.chol[h])
		var cov mat.Dense
		cov.Mul(l, l.T())
		s.cov = append(s.cov, &cov)
		s.mean = append(s.mean, mat.NewVecDense(n, append([]float64{}, b.mean.Data[h*n:(h+1)*n]...)))
	}
	return s
}

// divergence is Σ_h KL[N(m, S) ‖ N(0, K)].
func (s svgp) divergence() (kl float64) {
	logK, _ := mat.LogDet(s.k)
	for h, mu := range s.mean {
		var p mat.Dense
		p.Mul(s.inverse, s.cov[h])
		logS, _ := mat.LogDet(s.cov[h])
		kl += (mat.Trace(&p) + mat.Inner(mu, s.inverse, mu) - float64(mu.Len()) + logK - logS) / 2
	}
	return kl
}

// marginal is q(f_h(x_i)): mean kᵀK⁻¹m, variance γ² − kᵀK⁻¹(K − S)K⁻¹k.
func (s svgp) marginal(h, i int) (mean, sd float64) {
	var a mat.VecDense
	a.MulVec(s.inverse, s.kx.ColView(i))
	var between mat.Dense
	between.Sub(s.k, s.cov[h])
	return mat.Dot(&a, s.mean[h]), math.Sqrt(s.gamma2 - mat.Inner(&a, &between, &a))
}

// nll is −Σ_i E[log softmax(f(x_i))_y], the expectation over the points that
// points gives for an example: weights and standard normal numbers.
func (s svgp) nll(y []int, points func(use func(weight float64, eps []float64))) (sum float64) {
	for i, label := range y {
		points(func(weight float64, eps []float64) {
			f, total := make([]float64, len(eps)), 0.0
			for h, e := range eps {
				mean, sd := s.marginal(h, i)
				f[h] = mean + sd*e
				total += math.Exp(f[h])
			}
			sum -= weight * math.Log(math.Exp(f[label])/total)
		})
	}
	return sum
}

// drawn gives the draws of a step.
func drawn(c Config, rng *rand.Rand, theta, heads int) func(use func(float64, []float64)) {
	_, draws := c.draws()
	if c.Variant != PointHypers {
		for range theta {
			rng.NormFloat64()
		}
	}
	return func(use func(float64, []float64)) {
		for range draws {
			eps := make([]float64, heads)
			for h := range eps {
				eps[h] = rng.NormFloat64()
			}
			use(1/float64(draws), eps)
		}
	}
}

// grid gives the points of a midpoint rule in three dimensions.
func grid(use func(float64, []float64)) {
	const side, most = 24, 6.0
	const step = 2 * most / side
	density := func(z float64) float64 { return step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	at := func(i int) float64 { return -most + (float64(i)+0.5)*step }
	for i := range side {
		for j := range side {
			for k := range side {
				use(density(at(i))*density(at(j))*density(at(k)), []float64{at(i), at(j), at(k)})
			}
		}
	}
}

// TestFirstTaskIsSVGP: with one task and one θ, the divergence and the
// likelihood are, each on its own, those of a sparse variational GP: the
// likelihood for the same draws of f, and nearly for all.
func TestFirstTaskIsSVGP(t *testing.T) {
	for _, v := range Variants() {
		m, old := oneTask(t, v)
		c := m.cfg
		terms, _ := must.Get2(newProblem(m, old).evaluate(context.Background(), someBatch, fixed))(t)
		s := newSVGP(m, someBatch.x)
		if kl := s.divergence(); math.Abs(terms.Inducing-kl) > 1e-8*kl || terms.Correction != 0 {
			t.Errorf("%s: %+v, the divergence of a sparse variational GP is %g", v, terms, kl)
		}
		want := someBatch.scale * s.nll(someBatch.y, drawn(c, fixed(0), len(m.mean), 3))
		if math.Abs(terms.NLL-want) > 1e-8*want {
			t.Errorf("%s: NLL %.12g, of a sparse variational GP %.12g", v, terms.NLL, want)
		}
	}
}

func TestFirstTaskLikelihoodByQuadrature(t *testing.T) {
	m, old := oneTask(t, Full)
	m.cfg.FunctionSamples = 1000
	terms, _ := must.Get2(newProblem(m, old).evaluate(context.Background(), someBatch, fixed))(t)
	want := someBatch.scale * newSVGP(m, someBatch.x).nll(someBatch.y, grid)
	if math.Abs(terms.NLL-want) > 0.02*want {
		t.Errorf("NLL %g by 1000 draws, %g by quadrature", terms.NLL, want)
	}
}

// oneTask returns a model of three heads with one block of arbitrary
// parameters and one θ, and the empty one before.
func oneTask(t *testing.T, v Variant) (m, old *Model) {
	t.Helper()
	c := testConfig(v, false)
	c.HyperSamples = 1
	m = must.Get(New(c, 2, 3, 0.9))(t)
	old = m.Clone()
	must.Do(t, m.extend([]blas64.General{normals(4, 2, 1, 3)}))
	at := m.pack(0)
	for i, v := range normals(1, len(at), 0.3, 4).Data {
		at[i] += v
	}
	m.unpack(at, 0)
	for i := range m.logVar {
		m.logVar[i] = -60
	}
	return m, old
}
