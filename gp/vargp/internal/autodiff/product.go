package autodiff

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// leastProduct is the number of multiplications below which gonum is as fast as a
// library.
const leastProduct = 1 << 14

func (graph *Graph) small(rows, inner, cols int) bool {
	return graph.Products == nil || rows*inner*cols < leastProduct
}

// raw returns the kernels for factoring matrices.
func (graph *Graph) raw() linalg.Kernel {
	if graph.Products == nil {
		return linalg.Gonum{}
	}
	return graph.Products
}

// Product returns op(a)·op(b) without recording it.
func (graph *Graph) Product(a blas64.General, ta blas.Transpose, b blas64.General, tb blas.Transpose) blas64.General {
	rows, inner, cols := a.Rows, a.Cols, b.Cols
	if ta == blas.Trans {
		rows, inner = inner, rows
	}
	if tb == blas.Trans {
		cols = b.Rows
	}
	dst := dense.New(rows, cols)
	if graph.small(rows, inner, cols) || !graph.large(dst, a, ta, b, tb) {
		blas64.Gemm(ta, tb, 1, a, b, 0, dst)
	}
	return dst
}

// large tries to compute the product with the library and reports whether it
// succeeded.
func (graph *Graph) large(dst, a blas64.General, ta blas.Transpose, b blas64.General, tb blas.Transpose) bool {
	if ta == blas.Trans {
		a = dense.Transposed(a)
	}
	if tb == blas.Trans {
		return graph.Products.Mul64(dst, a, b) == nil
	}
	return graph.Products.MulPlain64(dst, a, b) == nil
}

// AddProduct adds factor·op(a)·op(b) to dst without recording it.
func (graph *Graph) AddProduct(dst blas64.General, factor float64, a blas64.General, ta blas.Transpose,
	b blas64.General, tb blas.Transpose) {
	inner := a.Cols
	if ta == blas.Trans {
		inner = a.Rows
	}
	if graph.small(dst.Rows, inner, dst.Cols) {
		blas64.Gemm(ta, tb, factor, a, b, 1, dst)
		return
	}
	dense.Add(dst, factor, graph.Product(a, ta, b, tb))
}

// solved returns op(l)⁻¹·b for a lower triangular l. A library has no solver, but
// it multiplies by the inverse faster than gonum solves.
func (graph *Graph) solved(l *Var, op blas.Transpose, b blas64.General) blas64.General {
	if !graph.small(l.Value.Rows, l.Value.Rows, b.Cols) {
		if inverse, ok := graph.inverted(l); ok {
			return graph.Product(inverse, op, b, blas.NoTrans)
		}
	}
	y := dense.Clone(b)
	blas64.Trsm(blas.Left, op, 1, linalg.LowerTriangle(l.Value), y)
	return y
}

// inverted returns l⁻¹, computed once.
func (graph *Graph) inverted(l *Var) (blas64.General, bool) {
	if l.inverse.Data == nil {
		inverse := dense.Clone(l.Value)
		if linalg.InvertLower(graph.Products, inverse) != nil {
			return inverse, false
		}
		l.inverse = inverse
	}
	return l.inverse, true
}
