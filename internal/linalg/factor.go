package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"gonum.org/v1/gonum/blas"
)

// Sides of the diagonal blocks that are factored without a library, and the
// order from which the larger one pays.
const (
	smallBlock = 32
	largeBlock = 64
	manyBlocks = 768
)

// leastFactored is the order below which gonum alone is as quick.
const leastFactored = 128

func blockOf(n int) int {
	if n < manyBlocks {
		return smallBlock
	}
	return largeBlock
}

// Factorize overwrites the lower triangle of a (n×n) with L, a = L·Lᵀ, on the
// calling goroutine, and leaves what is above the diagonal as it is. It returns
// false where a is not positive definite; then a is undefined. Nearly all of
// its n³/3 multiplications are products by raw (block columns, left-looking).
func Factorize(raw Raw, a blas64.General) bool {
	if _, ok := raw.(Gonum); ok || a.Rows < leastFactored {
		_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: a.Rows, Stride: a.Stride, Data: a.Data})
		return ok
	}
	side := blockOf(a.Rows)
	room := make([]float64, a.Rows*side)
	for j := 0; j < a.Rows; j += side {
		if !factorizeColumn(raw, a, j, min(side, a.Rows-j), room) {
			return false
		}
	}
	return true
}

// factorizeColumn makes w columns of L from column j on; those before are done.
func factorizeColumn(raw Raw, a blas64.General, j, w int, room []float64) bool {
	below := a.Rows - j
	if j > 0 {
		done := tight(room, below, w)
		if raw.Mul64(done, view64(a, j, 0, below, j), view64(a, j, 0, w, j)) != nil {
			return false
		}
		for i := range below {
			to := a.Data[(j+i)*a.Stride+j:]
			for k, x := range rowOf(done, i)[:min(i+1, w)] {
				to[k] -= x
			}
		}
	}
	corner := New64(w, w)
	for i := range w {
		copy(rowOf(corner, i)[:i+1], a.Data[(j+i)*a.Stride+j:])
	}
	inverse, smallest := inverseFactor(corner)
	if !(smallest > 0) {
		return false
	}
	for i := range w {
		copy(a.Data[(j+i)*a.Stride+j:], rowOf(corner, i)[:i+1])
	}
	below -= w
	if below == 0 {
		return true
	}
	rest, out := view64(a, j+w, j, below, w), tight(room, below, w)
	if raw.Mul64(out, rest, inverse) != nil {
		return false
	}
	copy64(rest, out)
	return true
}

// InvertLower overwrites the lower triangle of l (n×n), the factor of a positive
// definite matrix, with its inverse, and what is above with zeros.
func InvertLower(raw Raw, l blas64.General) error {
	if _, ok := raw.(Gonum); ok || l.Rows < leastFactored {
		lapack64.Trtri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}) // the diagonal is positive
		for i := range l.Rows {
			clear(rowOf(l, i)[i+1:])
		}
		return nil
	}
	side := blockOf(l.Rows)
	room, other := make([]float64, l.Rows*side), make([]float64, l.Rows*side)
	for i := 0; i < l.Rows; i += side {
		w := min(side, l.Rows-i)
		if err := invertRows(raw, l, i, w, room, other); err != nil {
			return err
		}
	}
	return nil
}

// invertRows makes w rows of X = L⁻¹ from row i on; those before are done:
// X_i = −L_ii⁻¹·L_i·X.
func invertRows(raw Raw, l blas64.General, i, w int, room, other []float64) error {
	corner := New64(w, w)
	for r := range w {
		copy(rowOf(corner, r)[:r+1], l.Data[(i+r)*l.Stride+i:])
	}
	inverse := inverseLower(corner)
	if i > 0 {
		above, rows := tight(room, w, i), tight(other, w, i)
		if err := raw.MulPlain64(above, view64(l, i, 0, w, i), view64(l, 0, 0, i, i)); err != nil {
			return err
		}
		if err := raw.MulPlain64(rows, inverse, above); err != nil {
			return err
		}
		for r := range w {
			to := l.Data[(i+r)*l.Stride:]
			for k, x := range rowOf(rows, r) {
				to[k] = -x
			}
		}
	}
	for r := range w {
		clear(rowOf(l, i+r)[i:])
		copy(l.Data[(i+r)*l.Stride+i:], rowOf(inverse, r)[:r+1])
	}
	return nil
}

// tight is a matrix in room.
func tight(room []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: room[:rows*cols]}
}
