package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// orthonormalise makes the rows of v orthonormal: by two passes with the Cholesky
// factor of their products if that is safe, otherwise one after the other, with
// random vectors in place of dependent rows.
func (f *filter) orthonormalise(v blas64.General) error {
	const safe = 1e-4 // smallest pivot; its square root is the share of a row's length that remains
	for range 2 {
		g := dense.New(v.Rows, v.Rows)
		for i := range v.Rows {
			unit(dense.Row(v, i))
		}
		if err := f.kernel.Mul64(g, v, v); err != nil {
			return err
		}
		inverse, smallest := inverseFactor(g)
		if !(smallest > safe) {
			f.orthonormaliseInTurn(v)
			return nil
		}
		if err := f.turn(inverse, v); err != nil {
			return err
		}
	}
	return nil
}

func (f *filter) orthonormaliseInTurn(v blas64.General) {
	for i := range v.Rows {
		for !orthonormalise(dense.Row(v, i), v, i, dependent) {
			copy(dense.Row(v, i), f.random(1, v.Cols).Data)
		}
	}
}

// inverseFactor returns L⁻¹ for g = L·Lᵀ and the smallest pivot, and overwrites
// the lower triangle of g with L. Neither factor is valid unless the pivot is
// positive.
func inverseFactor(g blas64.General) (inverse blas64.General, smallest float64) {
	smallest = math.Inf(1)
	for i := range g.Rows {
		li := dense.Row(g, i)[:i+1]
		for j := range i {
			lj := dense.Row(g, j)[:j+1]
			x := li[j]
			for k, y := range lj[:j] {
				x -= li[k] * y
			}
			x /= lj[j]
			li[j] = x
			li[i] -= x * x
		}
		smallest = min(smallest, li[i])
		li[i] = math.Sqrt(li[i])
	}
	return inverseLower(g), smallest
}

// inverseLower returns the inverse of the lower triangle of l.
func inverseLower(l blas64.General) blas64.General {
	inverse := dense.New(l.Rows, l.Rows)
	for i := range l.Rows {
		li, out := dense.Row(l, i), dense.Row(inverse, i)
		for j := range i {
			x := li[j]
			for k, y := range dense.Row(inverse, j)[:j+1] {
				out[k] -= x * y
			}
		}
		out[i] = 1
		for k := range i + 1 {
			out[k] /= li[i]
		}
	}
	return inverse
}

// dependent is the remaining share of a vector's length below which it counts as
// linearly dependent.
const dependent = 1e-10

// unit scales a row to length 1, or clears it if its length is 0 or infinite.
func unit(row []float64) {
	length := blas64.Nrm2(dense.Vector(row))
	if length > 0 && !math.IsInf(length, 0) {
		blas64.Scal(1/length, dense.Vector(row))
		return
	}
	clear(row)
}

// orthonormalise removes from row its projection on the first n rows of basis
// (twice, which is enough) and scales it to length 1. If no more than the share
// least of its length remains, it returns false and row is undefined.
func orthonormalise(row []float64, basis blas64.General, n int, least float64) bool {
	v := dense.Vector(row)
	before := blas64.Nrm2(v)
	if before == 0 || math.IsInf(before, 0) || math.IsNaN(before) {
		return false
	}
	blas64.Scal(1/before, v)
	if n > 0 {
		b := dense.Rows(basis, 0, n)
		c := dense.Vector(make([]float64, n))
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, b, v, 0, c)
			blas64.Gemv(blas.Trans, -1, b, c, 1, v)
		}
	}
	after := blas64.Nrm2(v)
	if !(after > least) {
		return false
	}
	blas64.Scal(1/after, v)
	return true
}
