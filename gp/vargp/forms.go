package vargp

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A spread is S_t of a head: its factor if that is trained, the whole matrix
// otherwise.
type spread struct {
	chol  *autodiff.Var  // M×M, nil if frozen
	whole blas64.General // M×M
}

// quadratic returns bᵀ·S·b for each column of b (M×B) and each head: H×B.
func quadratic(gr *autodiff.Graph, b *autodiff.Var, heads []spread) *autodiff.Var {
	out := dense.New(len(heads), b.Value.Cols)
	half := make([]blas64.General, len(heads)) // cholᵀ·b, or S·b
	inputs := []*autodiff.Var{b}
	for h, s := range heads {
		var other blas64.General
		if s.chol != nil {
			inputs = append(inputs, s.chol)
			half[h] = gr.Product(s.chol.Value, blas.Trans, b.Value, blas.NoTrans)
			other = half[h]
		} else {
			half[h] = gr.Product(s.whole, blas.NoTrans, b.Value, blas.NoTrans)
			other = b.Value
		}
		to := dense.Row(out, h)
		for i := range half[h].Rows {
			r := dense.Row(other, i)
			for j, v := range dense.Row(half[h], i) {
				to[j] += v * r[j]
			}
		}
	}
	return gr.Op(out, func(g blas64.General) {
		for h, s := range heads {
			s.back(gr, b, half[h], dense.Row(g, h))
		}
	}, inputs...)
}

// back adds the derivatives of one head's row. It overwrites half.
func (s spread) back(gr *autodiff.Graph, b *autodiff.Var, half blas64.General, g []float64) {
	for i := range half.Rows {
		r := dense.Row(half, i)
		for j, w := range g {
			r[j] *= 2 * w
		}
	}
	if s.chol == nil {
		if b.Needs() {
			accumulate(b.Grad().Data, 1, half.Data)
		}
		return
	}
	if b.Needs() {
		gr.AddProduct(b.Grad(), 1, s.chol.Value, blas.NoTrans, half, blas.NoTrans)
	}
	if s.chol.Needs() {
		gr.AddProduct(s.chol.Grad(), 1, b.Value, blas.NoTrans, half, blas.Trans)
	}
}

// leastVariance keeps rounding from making a variance negative.
const leastVariance = 1e-12

// marginal returns γ² − ‖a‖² + quad, the variances of the functions: H×B.
func marginal(gr *autodiff.Graph, theta, a, quad *autodiff.Var) *autodiff.Var {
	gamma2 := variance(dense.Row(theta.Value, 0))
	known := make([]float64, a.Value.Cols)
	for i := range a.Value.Rows {
		for j, v := range dense.Row(a.Value, i) {
			known[j] += v * v
		}
	}
	out := dense.New(quad.Value.Rows, quad.Value.Cols)
	for h := range out.Rows {
		to := dense.Row(out, h)
		for j, q := range dense.Row(quad.Value, h) {
			to[j] = max(gamma2-known[j]+q, leastVariance)
		}
	}
	return gr.Op(out, func(g blas64.General) {
		sum := make([]float64, out.Cols)
		for h := range out.Rows {
			from, v := dense.Row(g, h), dense.Row(out, h)
			for j, w := range from {
				if v[j] == leastVariance {
					continue
				}
				sum[j] += w
				if quad.Needs() {
					quad.Grad().Data[h*out.Cols+j] += w
				}
			}
		}
		for _, w := range sum {
			theta.Grad().Data[0] += 2 * gamma2 * w
		}
		if !a.Needs() {
			return
		}
		for i := range a.Value.Rows {
			to := dense.Row(a.Grad(), i)
			for j, v := range dense.Row(a.Value, i) {
				to[j] -= 2 * v * sum[j]
			}
		}
	}, theta, a, quad)
}

// softmaxNLL returns −Σ_b E[log softmax(f_b)_y] by Monte Carlo, f_hb ~ N(mean,
// variance) with draws from rng: 1×1. The labels y are rows of mean (H×B).
func softmaxNLL(gr *autodiff.Graph, mean, variance *autodiff.Var, y []int, draws int, rng *rand.Rand) *autodiff.Var {
	means, dMean := dense.Transposed(mean.Value), dense.New(mean.Value.Cols, mean.Value.Rows)
	sds, dVar := dense.Transposed(variance.Value), dense.New(mean.Value.Cols, mean.Value.Rows)
	one := likelihood{eps: make([]float64, mean.Value.Rows), f: make([]float64, mean.Value.Rows)}
	total := 0.0
	for b, y := range y {
		one.mean, one.sd, one.dMean, one.dSD = dense.Row(means, b), dense.Row(sds, b), dense.Row(dMean, b),
			dense.Row(dVar, b)
		for h, v := range one.sd {
			one.sd[h] = math.Sqrt(v)
		}
		for range draws {
			total += one.draw(y, rng)
		}
		for h, sd := range one.sd {
			one.dMean[h] /= float64(draws)
			one.dSD[h] /= 2 * sd * float64(draws) // now with respect to the variance
		}
	}
	return gr.Op(autodiff.Number(total/float64(draws)).Value, func(g blas64.General) {
		accumulate(mean.Grad().Data, g.Data[0], dense.Transposed(dMean).Data)
		accumulate(variance.Grad().Data, g.Data[0], dense.Transposed(dVar).Data)
	}, mean, variance)
}

// A likelihood is the likelihood of one example with the sums of its derivatives.
type likelihood struct{ mean, sd, dMean, dSD, eps, f []float64 }

// draw returns −log softmax(f)_y for a draw of f and adds its derivatives.
func (l likelihood) draw(y int, rng *rand.Rand) float64 {
	n := len(l.f)
	mean, sd, eps, f := l.mean[:n], l.sd[:n], l.eps[:n], l.f
	largest := math.Inf(-1)
	for h := range f {
		eps[h] = rng.NormFloat64()
		f[h] = mean[h] + sd[h]*eps[h]
		if f[h] > largest {
			largest = f[h]
		}
	}
	sum, fy := 0.0, f[y]
	for h, v := range f {
		f[h] = math.Exp(v - largest)
		sum += f[h]
	}
	inverse := 1 / sum
	dMean, dSD := l.dMean[:n], l.dSD[:n]
	dMean[y]--
	dSD[y] -= eps[y]
	for h, v := range f {
		p := v * inverse
		dMean[h] += p
		dSD[h] += p * eps[h]
	}
	return largest - fy + math.Log(sum)
}
