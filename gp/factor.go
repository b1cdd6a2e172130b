package gp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// factorize overwrites the lower triangle of a with L, a = L·Lᵀ. It returns
// false where a is not positive definite.
func factorize(a blas64.General) (blas64.Triangular, bool) {
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: a.Rows, Stride: a.Stride, Data: a.Data})
	return l, ok
}

// copied returns a tight copy of m.
func copied(m blas64.General) blas64.General {
	out := dense.New(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(dense.Row(out, i), dense.Row(m, i))
	}
	return out
}

// invert overwrites the lower triangle l, whose memory is that of a, with its
// inverse, and clears what is above it.
func invert(l blas64.Triangular, a blas64.General) {
	lapack64.Trtri(l) // cannot fail: the diagonal is positive
	clearAbove(a)
}

// clearAbove sets what is above the diagonal to zero.
func clearAbove(a blas64.General) {
	for i := range a.Rows {
		clear(dense.Row(a, i)[i+1:])
	}
}

// Jitter of K_mm: none while every pivot exceeds firm times the largest
// variance, soft times that otherwise.
const (
	firm = 1e-8
	soft = 1e-6
)

// firmFactor returns L and the jitter added to the diagonal of a, which is
// only read.
func firmFactor(a blas64.General) (l blas64.General, jitter float64, err error) {
	var largest float64
	for i := range a.Rows {
		largest = max(largest, dense.Row(a, i)[i])
	}
	for _, jitter := range []float64{0, soft * largest} {
		l := copied(a)
		for i := range l.Rows {
			dense.Row(l, i)[i] += jitter
		}
		if _, ok := factorize(l); ok && (jitter > 0 || smallestPivot(l) > firm*largest) {
			clearAbove(l)
			return l, jitter, nil
		}
	}
	return l, 0, &linalg.NotPSDError{Order: a.Rows, Jitter: soft * largest}
}

func smallestPivot(l blas64.General) float64 {
	smallest := dense.Row(l, 0)[0]
	for i := range l.Rows {
		smallest = min(smallest, dense.Row(l, i)[i])
	}
	return smallest * smallest
}

// safe bounds the squared pivots, beside the largest variance, that new inputs
// can be divided by without loss; below it pivots are chosen.
const safe = 1e-10

// Root returns R (r×n) with RᵀR = k, of the rank r that k (n×n, positive
// semi-definite, both triangles filled) has to working precision, and the r
// pivots: their columns of R are upper triangular. With f = Rᵀt, t ~ N(0, I), a
// new input whose covariances with the pivots are k* has the features
// ϕ = R_P⁻ᵀk*, and f* given t has mean ϕᵀt and variance k** − ‖ϕ‖². In O(n³/3),
// O(nr²/2) where k is nearly singular.
func Root(k blas64.General) (r blas64.General, pivots []int) {
	r = copied(k)
	var largest float64
	for i := range k.Rows {
		largest = max(largest, dense.Row(k, i)[i])
	}
	if _, ok := factorize(r); !ok || smallestPivot(r) <= safe*largest {
		return pivotedRoot(k)
	}
	transpose(r)
	pivots = make([]int, r.Rows)
	for i := range pivots {
		pivots[i] = i
	}
	return r, pivots
}

// transpose turns a lower triangle into an upper one and clears what is below.
func transpose(l blas64.General) {
	for i := range l.Rows {
		for j := range i {
			dense.Row(l, j)[i], dense.Row(l, i)[j] = dense.Row(l, i)[j], 0
		}
	}
}

// pivotedRoot returns R (r×n) with RᵀR = k, of the rank r that k has to
// working precision, by the Cholesky factorisation with complete pivoting: for
// matrices that are singular, as those of duplicate inputs are.
func pivotedRoot(k blas64.General) (blas64.General, []int) {
	n := k.Rows
	root := dense.New(n, n)
	left := make([]float64, n) // diagonal of k − RᵀR
	for i := range left {
		left[i] = dense.Row(k, i)[i]
	}
	var pivots []int
	var floor float64
	for r := range n {
		p := largestAt(left)
		if r == 0 {
			floor = 1e-14 * float64(n) * left[p]
		}
		if !(left[p] > floor) {
			root.Rows = r
			break
		}
		addPivot(root, r, k, p, left)
		pivots = append(pivots, p)
	}
	root.Data = root.Data[:root.Rows*root.Stride]
	return root, pivots
}

// addPivot fills row r of root with the column of pivot p.
func addPivot(root blas64.General, r int, k blas64.General, p int, left []float64) {
	v := dense.Row(root, r)
	copy(v, dense.Row(k, p))
	for i := range r {
		blas64.Axpy(-dense.Row(root, i)[p], dense.Vector(dense.Row(root, i)), dense.Vector(v))
	}
	blas64.Scal(1/math.Sqrt(left[p]), dense.Vector(v))
	for i, x := range v {
		left[i] -= x * x
	}
	left[p] = 0
}

func largestAt(v []float64) int {
	at := 0
	for i, x := range v {
		if x > v[at] {
			at = i
		}
	}
	return at
}
