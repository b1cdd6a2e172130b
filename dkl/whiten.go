package dkl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// whitenShrinkage is the share of the covariance that a multiple of I
// replaces, as in classifier plda.
const whitenShrinkage = 0.3

// whiten lets a linear residual head start as the map
//
//	x ↦ √(tr Σ/d)·Σ^{−½}·(x − μ),   Σ = (1−ε)·S + ε·(tr S/d)·I
//
// with S the covariance within classes of the training examples and μ their
// mean: directions in which images of one class differ count less. It stays the
// identity where no class varies. Cost: n·d² and an eigendecomposition of
// order d.
func (h *Head) whiten(d *data) error {
	x := d.gather(plain(d.train))
	mu := columnMeans(x)
	s := withinClasses(x, d.sizes())
	scale := trace(s) / float64(s.Rows)
	if !(scale > 0) {
		return nil
	}
	for i := range s.Rows {
		for j := range s.Cols {
			s.Data[i*s.Stride+j] *= 1 - whitenShrinkage
		}
		s.Data[i*s.Stride+i] += whitenShrinkage * scale
	}
	e, err := linalg.TopEigen(s, s.Rows)
	if err != nil {
		return fmt.Errorf("whiten: %w", err)
	}
	root := inverseRoot(e, scale)
	out := h.w.out
	for i := range root.Rows {
		copy(dense.Row(out.w, i), dense.Row(root, i))
		out.w.Data[i*out.w.Stride+i]-- // the residual adds x
	}
	blas64.Gemv(blas.NoTrans, -1, root, blas64.Vector{N: len(mu), Data: mu, Inc: 1}, 0, blas64.Vector{N: len(out.b), Data: out.b, Inc: 1})
	return nil
}

// inverseRoot returns √scale·Σ^{−½} from all eigenpairs of Σ.
func inverseRoot(e linalg.Eigen, scale float64) blas64.General {
	d := len(e.Values)
	half := dense.New(d, d) // row k is the eigenvector k over λ_k^¼
	for k, v := range e.Values {
		w := math.Sqrt(math.Sqrt(scale / v))
		for j := range d {
			half.Data[k*d+j] = w * e.Vectors.Data[k*e.Vectors.Stride+j]
		}
	}
	out := dense.New(d, d)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, half, half, 0, out)
	return out
}

func columnMeans(x blas64.General) []float64 {
	mu := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			mu[j] += v / float64(x.Rows)
		}
	}
	return mu
}

// withinClasses returns the pooled covariance within classes; rows of x are
// grouped by class, sizes many of each. It leaves x centred by class.
func withinClasses(x blas64.General, sizes []int) blas64.General {
	first := 0
	for _, n := range sizes {
		own := blas64.General{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[first*x.Stride:]}
		mu := columnMeans(own)
		for i := range n {
			for j := range mu {
				own.Data[i*own.Stride+j] -= mu[j]
			}
		}
		first += n
	}
	s := dense.New(x.Cols, x.Cols)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1/float64(max(1, x.Rows-len(sizes))), x, x, 0, s)
	return s
}

func trace(s blas64.General) float64 {
	var sum float64
	for i := range s.Rows {
		sum += s.Data[i*s.Stride+i]
	}
	return sum
}
