package linalg

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Sizes of the block Krylov iteration: extra vectors beside the q wanted ones,
// products per sweep, and when to stop.
const (
	krylovExtra  = 8
	krylovDepth  = 4
	krylovSweeps = 100
	krylovTol    = 1e-10 // residual ‖a·v − θv‖ beside the largest eigenvalue
	dependent    = 1e-10 // share of a vector's length below which it adds nothing
)

// A subspace is an orthonormal basis s (rows) with its image as = s·a.
type subspace struct {
	mul   Multiplier
	s, as blas64.General
	n     int // rows in use
}

// krylov finds the q leading eigenpairs by block subspace iteration with
// Rayleigh–Ritz on the Krylov space of each block (block Lanczos with full
// re-orthogonalisation, restarted from the best vectors). The start is fixed.
// It returns false when it does not converge.
func (s Solver) krylov(a blas64.General, q int) (Eigen, bool) {
	b := min(q+krylovExtra, a.Rows)
	depth := min(krylovDepth*b, a.Rows)
	block := startBlock(b, a.Rows)
	for range krylovSweeps {
		sp := s.newSubspace(depth, a.Rows)
		sp.grow(a, block)
		e, image, err := sp.ritz(b)
		if err != nil {
			return Eigen{}, false
		}
		if len(e.Values) >= q && converged(e, image, q) {
			return Eigen{Values: e.Values[:q], Vectors: rows64(e.Vectors, q)}, true
		}
		block = e.Vectors
	}
	return Eigen{}, false
}

func startBlock(b, m int) blas64.General {
	rng := rand.New(rand.NewPCG(0x70, 0x71))
	block := New64(b, m)
	for i := range block.Data {
		block.Data[i] = rng.NormFloat64()
	}
	return block
}

func (s Solver) newSubspace(depth, m int) *subspace {
	return &subspace{mul: s.multiplier(), s: New64(depth, m), as: New64(depth, m)}
}

// grow fills the basis with block, block·a, block·a², … A block that adds
// nothing new means that the space is invariant; what is missing is filled up
// with coordinate directions, so that a multiple eigenvalue is not overlooked.
func (sp *subspace) grow(a, block blas64.General) {
	for sp.n < sp.s.Rows {
		first := sp.n
		sp.add(block)
		if sp.n == first {
			sp.addCoordinate()
		}
		added := sp.n - first
		if added == 0 {
			return
		}
		m := a.Cols
		image := view64(sp.as, first, 0, added, m)
		if sp.mul.MulTrans64(image, view64(sp.s, first, 0, added, m), a) != nil {
			return
		}
		block = image
	}
}

// add appends the rows of block that the basis does not span yet.
func (sp *subspace) add(block blas64.General) {
	for i := range block.Rows {
		if sp.n == sp.s.Rows {
			return
		}
		row := sp.row(sp.n)
		copy(row, block.Data[i*block.Stride:i*block.Stride+block.Cols])
		if orthonormalise(row, sp.s, sp.n) {
			sp.n++
		}
	}
}

func (sp *subspace) addCoordinate() {
	for j := range sp.s.Cols {
		row := sp.row(sp.n)
		clear(row)
		row[j] = 1
		if orthonormalise(row, sp.s, sp.n) {
			sp.n++
			return
		}
	}
}

func (sp *subspace) row(i int) []float64 {
	return sp.s.Data[i*sp.s.Stride : i*sp.s.Stride+sp.s.Cols]
}

// ritz returns the b best eigenpairs within the subspace and the images of
// their vectors.
func (sp *subspace) ritz(b int) (Eigen, blas64.General, error) {
	s, as := rows64(sp.s, sp.n), rows64(sp.as, sp.n)
	h := New64(sp.n, sp.n)
	if err := sp.mul.MulTrans64(h, s, as); err != nil {
		return Eigen{}, h, err
	}
	b = min(b, sp.n)
	e, err := fullEigen(h, b)
	if err != nil {
		return Eigen{}, h, err
	}
	vectors, image := New64(b, s.Cols), New64(b, s.Cols)
	if err := mulInto(vectors, e.Vectors, s); err != nil {
		return Eigen{}, h, err
	}
	err = mulInto(image, e.Vectors, as)
	return Eigen{Values: e.Values, Vectors: vectors}, image, err
}

// converged compares the residuals of the first q pairs with the largest
// eigenvalue.
func converged(e Eigen, image blas64.General, q int) bool {
	scale := math.Abs(e.Values[0])
	for i := range q {
		var sq float64
		v := e.Vectors.Data[i*e.Vectors.Stride:]
		for j, w := range image.Data[i*image.Stride : i*image.Stride+image.Cols] {
			r := w - e.Values[i]*v[j]
			sq += r * r
		}
		if math.Sqrt(sq) > krylovTol*scale {
			return false
		}
	}
	return true
}

// orthonormalise removes from row what the first n rows of basis span (twice,
// which is enough) and scales it to length 1. It returns false, leaving row
// undefined, when nothing is left.
func orthonormalise(row []float64, basis blas64.General, n int) bool {
	v := blas64.Vector{N: len(row), Data: row, Inc: 1}
	before := blas64.Nrm2(v)
	if before == 0 || math.IsInf(before, 0) || math.IsNaN(before) {
		return false
	}
	blas64.Scal(1/before, v)
	if n > 0 {
		b := view64(basis, 0, 0, n, basis.Cols)
		c := blas64.Vector{N: n, Data: make([]float64, n), Inc: 1}
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, b, v, 0, c)
			blas64.Gemv(blas.Trans, -1, b, c, 1, v)
		}
	}
	after := blas64.Nrm2(v)
	if !(after > dependent) {
		return false
	}
	blas64.Scal(1/after, v)
	return true
}

// mulInto writes a·b (not transposed) into dst.
func mulInto(dst, a, b blas64.General) error {
	if a.Rows != dst.Rows || a.Cols != b.Rows || dst.Cols != b.Cols {
		return fits(shape64(dst), shape64(a), shape{b.Cols, b.Rows, b.Rows, b.Rows * b.Cols})
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, dst)
	return nil
}
