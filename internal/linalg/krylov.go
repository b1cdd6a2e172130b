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
	krylovExtra  = 8 // vectors kept beside the q
	krylovBlock  = 4 // rows of a block
	krylovDepth  = 7 // blocks beside the kept vectors
	krylovSweeps = 100
	krylovTol    = 1e-10 // residual ‖a·v − θv‖ beside the largest eigenvalue
	wellApart    = 1e-2  // share of a vector's length that rounding has no part in
	dependent    = 1e-10 // share of a vector's length below which it adds nothing
)

// A subspace is an orthonormal basis s (rows) with its image as = s·a.
type subspace struct {
	mul   Multiplier
	s, as blas64.General
	n     int // rows in use
}

// krylov finds the q leading eigenpairs by block Lanczos with full
// re-orthogonalisation and thick restart (Wu and Simon 2000): Rayleigh–Ritz on
// the Krylov space of a random block, then again on the best vectors and what
// follows the last block. A block that is narrower than the multiplicity of an
// eigenvalue may miss copies of it; so what has converged must stand a restart
// with a new random block, in whose space a copy that was missed comes first.
// The random numbers are fixed. It returns false when it does not converge.
func (s Solver) krylov(a blas64.General, q int) (Eigen, bool) {
	kept := min(q+krylovExtra, a.Rows)
	width := min(krylovBlock, a.Rows)
	rng := rand.New(rand.NewPCG(0x70, 0x71))
	sp := s.newSubspace(min(kept+krylovDepth*width, a.Rows), a.Rows)
	block := randomBlock(rng, width, a.Rows)
	var settled []float64
	for range krylovSweeps {
		next := sp.grow(a, block)
		e, image, err := sp.ritz(kept)
		if err != nil {
			return Eigen{}, false
		}
		if len(e.Values) >= q && converged(e, image, q) {
			if same(settled, e.Values[:q]) || sp.n == a.Rows {
				return Eigen{Values: e.Values[:q], Vectors: rows64(e.Vectors, q)}, true
			}
			settled, next = e.Values[:q], randomBlock(rng, width, a.Rows)
		}
		sp.restart(e.Vectors, image)
		block = next
	}
	return Eigen{}, false
}

// same says whether eigenvalues have not moved since they converged.
func same(before, now []float64) bool {
	if before == nil {
		return false
	}
	for i, v := range now {
		if math.Abs(v-before[i]) > krylovTol*math.Abs(now[0]) {
			return false
		}
	}
	return true
}

func randomBlock(rng *rand.Rand, rows, m int) blas64.General {
	block := New64(rows, m)
	for i := range block.Data {
		block.Data[i] = rng.NormFloat64()
	}
	return block
}

func (s Solver) newSubspace(depth, m int) *subspace {
	return &subspace{mul: s.multiplier(), s: New64(depth, m), as: New64(depth, m)}
}

// grow fills the basis with block, block·a, block·a² …, whole blocks as long as
// they fit, and returns what would follow, orthogonal to it. A block that adds
// nothing new means that the space is invariant; a coordinate direction then
// goes on in its place. In a basis that can hold everything the last block is
// cut.
func (sp *subspace) grow(a, block blas64.General) blas64.General {
	for m := a.Cols; sp.n < sp.s.Rows && (sp.n+block.Rows <= sp.s.Rows || sp.s.Rows == m); {
		first := sp.n
		sp.add(block)
		if sp.n == first {
			sp.addCoordinate()
		}
		added := sp.n - first
		if added == 0 {
			break
		}
		block = view64(sp.as, first, 0, added, m)
		if sp.mul.MulTrans64(block, view64(sp.s, first, 0, added, m), a) != nil {
			break
		}
	}
	next := clone64(block)
	sp.project(next)
	return next
}

// restart keeps orthonormal vectors of the space and their images only.
func (sp *subspace) restart(vectors, image blas64.General) {
	sp.n = vectors.Rows
	copy64(sp.s, vectors)
	copy64(sp.as, image)
}

func clone64(m blas64.General) blas64.General {
	out := New64(m.Rows, m.Cols)
	copy64(out, m)
	return out
}

// add appends to the basis what it does not span yet of the rows of block.
func (sp *subspace) add(block blas64.General) {
	rest := clone64(block)
	sp.project(rest)
	first := sp.n
	for i := range block.Rows {
		if sp.n == sp.s.Rows {
			return
		}
		row := sp.row(sp.n)
		copy(row, rest.Data[i*rest.Stride:i*rest.Stride+rest.Cols])
		if norm(row) > wellApart && orthonormalise(row, view64(sp.s, first, 0, sp.s.Rows-first, sp.s.Cols), sp.n-first, wellApart) {
			sp.n++
			continue
		}
		copy(row, block.Data[i*block.Stride:i*block.Stride+block.Cols])
		if orthonormalise(row, sp.s, sp.n, dependent) {
			sp.n++
		}
	}
}

// project scales the rows of block to length 1 and removes what the basis
// spans, twice, all rows at once.
func (sp *subspace) project(block blas64.General) {
	for i := range block.Rows {
		unit(block.Data[i*block.Stride : i*block.Stride+block.Cols])
	}
	if sp.n == 0 {
		return
	}
	basis, c := rows64(sp.s, sp.n), New64(block.Rows, sp.n)
	for range 2 {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, block, basis, 0, c)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, c, basis, 1, block)
	}
}

func norm(row []float64) float64 { return blas64.Nrm2(blas64.Vector{N: len(row), Data: row, Inc: 1}) }

// unit scales a row to length 1, or to zeros where it has none.
func unit(row []float64) {
	if length := norm(row); length > 0 && !math.IsInf(length, 0) {
		blas64.Scal(1/length, blas64.Vector{N: len(row), Data: row, Inc: 1})
		return
	}
	clear(row)
}

func (sp *subspace) addCoordinate() {
	for j := range sp.s.Cols {
		row := sp.row(sp.n)
		clear(row)
		row[j] = 1
		if orthonormalise(row, sp.s, sp.n, dependent) {
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
// undefined, when no more than the share least of it is left.
func orthonormalise(row []float64, basis blas64.General, n int, least float64) bool {
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
	if !(after > least) {
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
