package bound

import (
	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// differentiate turns abar into the gradient of K_nm, knn into that of K_ii, and
// kmm into that of K_mm.
func (v *node) differentiate() error {
	if err := linalg.Plain64(v.raw, v.abar, v.t, v.r); err != nil { // rows S·aᵢ
		return err
	}
	n := float64(len(v.c))
	g := v.t
	for i, c := range v.c {
		lambda := polyagamma.Mean(1, c)
		slope := v.kappa(i) - lambda*v.mu[i]
		a, sa, to := dense.Row(v.a, i), dense.Row(v.abar, i), dense.Row(g, i)
		for j := range to {
			to[j] = -(slope*v.mean[j] + lambda*(a[j]-sa[j])) / n
		}
		v.knn[i] = lambda / (2 * n)
	}
	if err := linalg.Plain64(v.raw, v.abar, g, v.l); err != nil {
		return err
	}
	if err := linalg.Plain64(v.raw, v.kmm, dense.Transposed(g), v.a); err != nil {
		return err
	}
	return v.differentiateFactor()
}

// differentiateFactor turns kmm = ĀᵀA into −sym(L⁻ᵀ Φ(ĀᵀA) L⁻¹); the diagonal of
// K_mm also answers for its jitter.
func (v *node) differentiateFactor() error {
	m := v.len()
	for i := range m {
		r := dense.Row(v.kmm, i)
		r[i] /= 2
		clear(r[i+1:])
	}
	err := linalg.EachPart(m, func(from, n int) error { // zeros from column from+n on
		return v.raw.MulPlain64(rows(v.room, from, n), part(v.kmm, from, n, 0, from+n), rows(v.l, 0, from+n))
	})
	if err != nil {
		return err
	}
	back := dense.Transposed(v.l)
	err = linalg.EachPart(m, func(from, n int) error { // zeros up to column from
		return v.raw.MulPlain64(rows(v.kmm, from, n), part(back, from, n, from, m), rows(v.room, from, m-from))
	})
	if err != nil {
		return err
	}
	for i := range m {
		r := dense.Row(v.kmm, i)
		for j := range i {
			s := -(r[j] + dense.Row(v.kmm, j)[i]) / 2
			r[j], dense.Row(v.kmm, j)[i] = s, s
		}
		r[i] *= -(1 + jitter)
	}
	return nil
}
