package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// solve overwrites v with (LLᵀ)⁻¹v; l holds L in its lower triangle.
func solve(l blas64.General, v []float64) {
	blas64.Trsv(blas.NoTrans, linalg.LowerTriangle(l), dense.Vector(v))
	blas64.Trsv(blas.Trans, linalg.LowerTriangle(l), dense.Vector(v))
}

// Jitter of K_mm: none if every pivot exceeds firm times the largest variance,
// otherwise soft times the largest variance.
const (
	firm = 1e-8
	soft = 1e-6
)

// firmFactor returns L and the jitter added to the diagonal of a, which is
// only read.
func firmFactor(a blas64.General) (l blas64.General, jitter float64, err error) {
	largest := max(0, slices.Max(dense.Diagonal(a)))
	l, err = linalg.Cholesky(linalg.Gonum{}, a, 0)
	if err == nil && smallestPivot(l) > firm*largest {
		return l, 0, nil
	}
	jitter = soft * largest
	l, err = linalg.Cholesky(linalg.Gonum{}, a, jitter)
	return l, jitter, err
}

func smallestPivot(l blas64.General) float64 {
	smallest := slices.Min(dense.Diagonal(l))
	return smallest * smallest
}

// safe is the smallest squared pivot, relative to the largest variance, that is
// safe to divide by; below it Root uses complete pivoting.
const safe = 1e-10

// Root returns R (r×n) with RᵀR = k, where r is the rank of k (n×n, positive
// semi-definite, both triangles filled) to working precision, and the r pivots,
// whose columns of R are upper triangular. With f = Rᵀt, t ~ N(0, I), a new
// input whose covariances with the pivots are k* has the features ϕ = R_P⁻ᵀk*,
// and f* given t has mean ϕᵀt and variance k** − ‖ϕ‖². Root takes O(n³/3), or
// O(nr²/2) if k is nearly singular.
func Root(k blas64.General) (r blas64.General, pivots []int) {
	l, err := linalg.Cholesky(linalg.Gonum{}, k, 0)
	if err != nil || smallestPivot(l) <= safe*slices.Max(dense.Diagonal(k)) {
		return pivotedRoot(k)
	}
	return dense.Transposed(l), dense.Range(0, k.Rows)
}

// pivotedRoot returns R (r×n) with RᵀR = k and the pivots by Cholesky
// factorisation with complete pivoting, for singular matrices such as those of
// duplicate inputs.
func pivotedRoot(k blas64.General) (blas64.General, []int) {
	n := k.Rows
	root := dense.New(n, n)
	left := dense.Diagonal(k) // of k − RᵀR
	var pivots []int
	var floor float64
	for r := range n {
		p := floats.MaxIdx(left)
		if r == 0 {
			floor = 1e-14 * float64(n) * left[p]
		}
		if !(left[p] > floor) {
			break
		}
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
		pivots = append(pivots, p)
	}
	return dense.Rows(root, 0, len(pivots)), pivots
}
