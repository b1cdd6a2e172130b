package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/seed-90d10d51/pipeline/internal/dense"

	"gonum.org/v1/gonum/blas"
)

// Sides of the diagonal blocks that are factored without a library, and the order
// from which the larger one is faster.
const (
	smallBlock = 32
	largeBlock = 64
	manyBlocks = 768
)

// leastFactored is the order below which gonum alone is as fast.
const leastFactored = 128

// Factorize overwrites the lower triangle of a (n×n) with L, a = L·Lᵀ, on the
// calling goroutine, and leaves the part above the diagonal unchanged. If a is not
// positive definite, it returns false and a is undefined. Nearly all of its n³/3
// multiplications are products by raw (block columns, left-looking).
func Factorize(raw Kernel, a blas64.General) bool {
	_, ok := raw.(Gonum)
	if ok || a.Rows < leastFactored {
		_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: a.Rows, Stride: a.Stride, Data: a.Data})
		return ok
	}
	side := smallBlock
	if a.Rows >= manyBlocks {
		side = largeBlock
	}
	work := make([]float64, a.Rows*side)
	for j := 0; j < a.Rows; j += side {
		if !factorizeColumn(raw, a, j, min(side, a.Rows-j), work) {
			return false
		}
	}
	return true
}

// factorizeColumn computes w columns of L from column j on; those before are done.
func factorizeColumn(raw Kernel, a blas64.General, j, w int, work []float64) bool {
	below := a.Rows - j
	if j > 0 {
		done := tight(work, below, w)
		if raw.Mul64(done, dense.View(a, j, 0, below, j), dense.View(a, j, 0, w, j)) != nil {
			return false
		}
		for i := range below {
			to := a.Data[(j+i)*a.Stride+j:]
			for k, x := range dense.Row(done, i)[:min(i+1, w)] {
				to[k] -= x
			}
		}
	}
	inverse, smallest := inverseFactor(dense.View(a, j, j, w, w))
	if !(smallest > 0) {
		return false
	}
	below -= w
	if below == 0 {
		return true
	}
	rest, out := dense.View(a, j+w, j, below, w), tight(work, below, w)
	if raw.Mul64(out, rest, inverse) != nil {
		return false
	}
	dense.Copy(rest, out)
	return true
}

// InvertLower overwrites the lower triangle of l (n×n), the factor of a positive
// definite matrix, with its inverse, and the part above the diagonal with zeros.
func InvertLower(raw Kernel, l blas64.General) error {
	for i := range l.Rows {
		clear(dense.Row(l, i)[i+1:])
	}
	_, ok := raw.(Gonum)
	if ok || l.Rows < leastFactored {
		lapack64.Trtri(LowerTriangle(l)) // succeeds, since the diagonal is positive
		return nil
	}
	return invertHalves(raw, l, make([]float64, l.Rows*l.Rows/2))
}

// invertHalves inverts both diagonal halves and then the block below them:
// X₂₁ = −X₂₂·L₂₁·X₁₁. It multiplies zeros too, which doubles the operations but
// makes the products large.
func invertHalves(raw Kernel, l blas64.General, work []float64) error {
	n := l.Rows
	if n <= largeBlock {
		dense.Copy(l, inverseLower(l))
		return nil
	}
	top := n / 2
	first, last := dense.View(l, 0, 0, top, top), dense.View(l, top, top, n-top, n-top)
	if err := invertHalves(raw, first, work); err != nil {
		return err
	}
	if err := invertHalves(raw, last, work); err != nil {
		return err
	}
	below, half := dense.View(l, top, 0, n-top, top), (n-top)*top
	product, result := tight(work, n-top, top), tight(work[half:], n-top, top)
	if err := raw.MulPlain64(product, below, first); err != nil {
		return err
	}
	if err := raw.MulPlain64(result, last, product); err != nil {
		return err
	}
	for i := range below.Rows {
		to := dense.Row(below, i)
		for k, x := range dense.Row(result, i) {
			to[k] = -x
		}
	}
	return nil
}

// tight returns a matrix without gaps in work.
func tight(work []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: work[:rows*cols]}
}
