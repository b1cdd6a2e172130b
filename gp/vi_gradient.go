package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A BoundGradient is the gradient of a bound with respect to the kernel matrices
// of a batch; that of Kmm is symmetric.
type BoundGradient struct {
	Kmm, Knm blas64.General
	Knn      []float64
}

// Gradient returns the bound, as Bound does, and its gradient with h, P
// and m held fixed, so that the divergence does not depend on the kernel. With Ā =
// ∂bound/∂A and μ = E f,
//
//	Āᵢ = n/|B|·[(κᵢ − λᵢμᵢ)·Eu + λᵢ(aᵢ − S aᵢ)],   ∂bound/∂K_ii = −n/|B|·λᵢ/2
//	∂bound/∂K_nm = ĀL⁻¹
//	∂bound/∂K_mm = −sym(L⁻ᵀ Φ(ĀᵀA) L⁻¹)
//
// where Φ takes the lower triangle and halves its diagonal. This is the adjoint
// of the Cholesky factorisation (Murray, arXiv:1602.07527, 2016), in which LᵀL̄
// and −ĀᵀA have the same lower triangle.
func (v *VI) Gradient(b *Batch, scale float64) (float64, BoundGradient, error) {
	n, m := len(b.kappa), v.Len()
	t, g := dense.New(n, m), BoundGradient{Kmm: dense.New(m, m), Knm: dense.New(n, m), Knn: make([]float64, n)}
	err := v.timesTrans(t, b.a, v.q.root) // T = A·rootᵀ
	if err == nil {
		err = linalg.Plain64(v.raw(), g.Knm, t, v.q.root) // rows S·aᵢ
	}
	if err != nil {
		return 0, g, fmt.Errorf("gp: vi: %w", err)
	}
	mean, c := make([]float64, n), make([]float64, n)
	for i := range c {
		a, sa, to := dense.Row(b.a, i), dense.Row(g.Knm, i), dense.Row(t, i)
		mean[i] = dense.Dot(a, v.q.mean)
		if b.prior != nil {
			mean[i] += b.prior[i]
		}
		c[i] = math.Sqrt(b.rest[i] + dense.Dot(to, to) + mean[i]*mean[i])
		lambda := polyagamma.Mean(1, c[i])
		slope := b.kappa[i] - lambda*mean[i]
		for j := range to {
			to[j] = scale * (slope*v.q.mean[j] + lambda*(a[j]-sa[j]))
		}
		g.Knn[i] = -scale * lambda / 2
	}
	if err = linalg.Plain64(v.raw(), g.Knm, t, v.inverse); err == nil {
		err = linalg.Plain64(v.raw(), g.Kmm, dense.Transposed(t), b.a)
	}
	if err == nil {
		err = v.throughFactor(g.Kmm)
	}
	if err != nil {
		return 0, g, fmt.Errorf("gp: vi: %w", err)
	}
	return scale*fit(b.kappa, mean, c) - v.divergence(), g, nil
}

// throughFactor turns g = ĀᵀA into −sym(L⁻ᵀ Φ(g) L⁻¹). The diagonal of K_mm also
// takes the gradient of its jitter.
func (v *VI) throughFactor(g blas64.General) error {
	m := v.Len()
	for i := range m {
		r := dense.Row(g, i)
		r[i] /= 2
		clear(r[i+1:])
	}
	product, back := dense.New(m, m), dense.Transposed(v.inverse)
	err := linalg.EachPart(m, func(from, n int) error { // zeros from column from+n on
		last := from + n
		return v.raw().MulPlain64(dense.Rows(product, from, last), dense.View(g, from, 0, n, last),
			dense.Rows(v.inverse, 0, last))
	})
	if err != nil {
		return err
	}
	err = linalg.EachPart(m, func(from, n int) error { // zeros up to column from
		return v.raw().MulPlain64(dense.Rows(g, from, from+n), dense.View(back, from, from, n, m-from),
			dense.Rows(product, from, m))
	})
	if err != nil {
		return err
	}
	for i := range m {
		r := dense.Row(g, i)
		for j := range i {
			s := -(r[j] + dense.Row(g, j)[i]) / 2
			r[j], dense.Row(g, j)[i] = s, s
		}
		r[i] *= -(1 + v.relative)
	}
	return nil
}
