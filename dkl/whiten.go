package dkl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// whitenShrinkage is the share of the covariance replaced by a multiple of I, as
// in classifier plda.
const whitenShrinkage = 0.3

// whiten initialises a linear residual head to the map
//
//	x ↦ √(tr Σ/d)·Σ^{−½}·(x − μ),   Σ = (1−ε)·S + ε·(tr S/d)·I
//
// with S the covariance within classes of the training examples and μ their mean,
// so that directions in which images of one class differ count less. The head
// stays the identity if no class varies. Cost: n·d² and an eigendecomposition of
// order d.
func (h *Projection) whiten(d *data) error {
	x := d.gather(plain(d.train))
	mu := dense.MeanRow(x)
	s := withinClasses(x, d.sizes())
	scale := dense.Trace(s) / float64(s.Rows)
	if !(scale > 0) {
		return nil
	}
	for i := range s.Rows {
		blas64.Scal(1-whitenShrinkage, dense.Vector(dense.Row(s, i)))
		dense.Row(s, i)[i] += whitenShrinkage * scale
	}
	e, err := linalg.TopEigen(s, s.Rows)
	if err != nil {
		return fmt.Errorf("whiten: %w", err)
	}
	half, root, out := e.Vectors, dense.New(s.Rows, s.Rows), h.w.out
	for k, v := range e.Values { // eigenvector k over λ_k^¼
		blas64.Scal(math.Sqrt(math.Sqrt(scale/v)), dense.Vector(dense.Row(half, k)))
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, half, half, 0, root) // √scale·Σ^{−½}
	dense.Copy(out.w, root)
	for i := range root.Rows {
		dense.Row(out.w, i)[i]-- // the residual adds x
	}
	blas64.Gemv(blas.NoTrans, -1, root, dense.Vector(mu), 0, dense.Vector(out.b))
	return nil
}

// withinClasses returns the pooled covariance within classes. The rows of x are
// grouped by class, with sizes[k] rows of class k; x is centred by class in place.
func withinClasses(x blas64.General, sizes []int) blas64.General {
	first := 0
	for _, n := range sizes {
		own := dense.Rows(x, first, first+n)
		dense.SubtractRow(own, dense.MeanRow(own))
		first += n
	}
	s := dense.New(x.Cols, x.Cols)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1/float64(max(1, x.Rows-len(sizes))), x, x, 0, s)
	return s
}
