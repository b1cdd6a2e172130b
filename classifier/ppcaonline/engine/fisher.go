package engine

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A fisherDiagonal holds the diagonal of the Fisher information, one element
// per parameter.
type fisherDiagonal struct {
	Mean   []float64      // d
	W      blas64.General // d×q
	Sigma2 float64
}

// fisher returns the diagonal of the Fisher information of one example, in the
// form Exact or Paper. O(dq²).
func (g *Gaussian) fisher(kind string) fisherDiagonal {
	d, q, s := len(g.Mean), g.W.Cols, g.Sigma2
	f := fisherDiagonal{Mean: make([]float64, d), W: dense.New(d, q)}
	wm := dense.New(d, q) // W·M⁻¹ = C⁻¹·W
	wmm := dense.New(d, q)
	if q > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, g.W, g.minv, 0, wm)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, wm, g.wtw, 0, wmm)
	}
	for i := range d {
		var a, b float64 // (W·M⁻¹·Wᵀ)_ii and (W·M⁻¹·WᵀW·M⁻¹·Wᵀ)_ii
		for j := range q {
			a += wm.Data[i*q+j] * g.W.Data[i*g.W.Stride+j]
			b += wmm.Data[i*q+j] * wm.Data[i*q+j]
		}
		cii := max(0, 1-a) / s // eq. 28
		f.Mean[i] = cii
		if kind == Paper { // eq. 19
			f.Mean[i] = max(0, 1-2*a+b) / (s * s)
		}
		for j := range q { // eq. 29 with m = n
			share := 1 - s*g.minv.Data[j*q+j] // (WᵀC⁻¹W)_jj
			f.W.Data[i*q+j] = wm.Data[i*q+j]*wm.Data[i*q+j] + max(0, share)*cii
			if kind == Paper { // eq. 20
				f.W.Data[i*q+j] *= 2
			}
		}
	}
	f.Sigma2 = g.fisherSigma2(kind)
	return f
}

// fisherSigma2 returns ½·tr C⁻² (eq. 32), or tr C⁻¹ (eq. 21).
func (g *Gaussian) fisherSigma2(kind string) float64 {
	rest := float64(len(g.Mean) - g.W.Cols)
	if kind == Paper {
		sum := rest / g.Sigma2
		for j := range g.minv.Rows {
			sum += g.minv.Data[j*g.minv.Stride+j]
		}
		return sum
	}
	return (rest/(g.Sigma2*g.Sigma2) + dense.SumSquares(g.minv.Data)) / 2
}
