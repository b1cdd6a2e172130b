package gpsoftmax

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/gp/quadrature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// oneVsEach is the composite likelihood Π_{c≠y} σ(f_y − f_c).
type oneVsEach struct{}

func (oneVsEach) order(examples, classes int) int { return examples * (classes - 1) }

// logLikelihoods writes Σ_{j≠c} log σ(f_c − f_j), in O(C²).
func (oneVsEach) logLikelihoods(dst, f []float64) {
	for c, v := range f {
		dst[c] = 0
		for j, w := range f {
			if j != c {
				dst[c] += quadrature.LogSigmoid(v - w)
			}
		}
	}
}

// joint is the posterior of all functions together. Row p of A is e_y − e_c at
// the example of pair p.
type joint struct {
	d     data
	pairs []pair
	half  []float64 // Ω^½
}

// A pair is an example and a class other than its own.
type pair struct{ example, class int }

// augment draws ω ~ PG(1, Af), one for every pair.
func (oneVsEach) augment(d data, f blas64.General, rng *rand.Rand) posterior {
	p := joint{d: d}
	for i, own := range d.own {
		for c := range d.classes {
			if c != own {
				p.pairs = append(p.pairs, pair{i, c})
				omega := polyagamma.Draw(rng, dense.Row(f, own)[i]-dense.Row(f, c)[i])
				p.half = append(p.half, math.Sqrt(omega))
			}
		}
	}
	return p
}

// system returns B = I + Ω^½A(I⊗K)AᵀΩ^½, its lower triangle: the posterior
// precision K⁻¹ + AᵀΩA without the inverse of K, which may be singular.
func (p joint) system() blas64.General {
	b := dense.New(len(p.pairs), len(p.pairs))
	for i, a := range p.pairs {
		to, k, own := dense.Row(b, i), dense.Row(p.d.k, a.example), p.d.own[a.example]
		for j, e := range p.pairs[:i+1] {
			if n := overlap(own, a.class, p.d.own[e.example], e.class); n != 0 {
				to[j] = p.half[i] * n * k[e.example] * p.half[j]
			}
		}
		to[i]++
	}
	return b
}

// overlap returns (e_y − e_c)·(e_z − e_d).
func overlap(y, c, z, d int) float64 {
	var n float64
	if y == z {
		n++
	}
	if c == d {
		n++
	}
	if y == d {
		n--
	}
	if c == z {
		n--
	}
	return n
}

// draw is Matheron's rule on all functions at once:
// t = z − ΦᵀAᵀΩ^½B⁻¹(Ω^½AΦz + ε) with z ~ N(ΦᵀAᵀκ, I), κ = ½ for every pair.
func (p joint) draw(ctx context.Context, dst []blas64.General, rng *rand.Rand) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := factorized(p.system())
	if err != nil {
		return err
	}
	v := slices.Repeat([]float64{0.5}, len(p.pairs))
	start := dense.New(p.d.classes, p.d.phi.Cols)
	p.addBack(start, 1, v)
	f := dense.New(p.d.classes, len(p.d.own))
	for _, t := range dst {
		for c := range t.Rows {
			copy(dense.Row(t, c), dense.Row(start, c))
			addNormals(rng, dense.Row(t, c))
		}
		linalg.MulTrans64(f, t, p.d.phi)
		for i, a := range p.pairs {
			v[i] = dense.Row(f, p.d.own[a.example])[a.example] - dense.Row(f, a.class)[a.example]
		}
		solveNoisy(l, v, p.half, rng)
		p.addBack(t, -1, v)
	}
	return nil
}

// addBack adds sign·ΦᵀAᵀv to t.
func (p joint) addBack(t blas64.General, sign float64, v []float64) {
	if p.d.phi.Cols == 0 {
		return
	}
	back := dense.New(p.d.classes, len(p.d.own)) // Aᵀv
	for i, a := range p.pairs {
		dense.Row(back, p.d.own[a.example])[a.example] += v[i]
		dense.Row(back, a.class)[a.example] -= v[i]
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, sign, back, p.d.phi, 1, t)
}
