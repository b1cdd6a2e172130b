package linalg

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// smallOrder is the order up to which a full decomposition is faster than finding
// the leading eigenpairs alone.
const smallOrder = 96

// rankTolerance is the share of the largest eigenvalue below which an eigenvector
// of a thin Gram matrix is only rounding error.
const rankTolerance = 1e-12

// Eigen holds eigenpairs, largest first. Row i of Vectors (k×d) belongs to
// Values[i]; its entry of largest magnitude is positive.
type Eigen struct {
	Values  []float64
	Vectors blas64.General
}

// Positive returns the eigenpairs whose value exceeds tol times the largest and
// exceeds 0: the others are zero up to rounding.
func (e Eigen) Positive(tol float64) Eigen {
	rank := 0
	for rank < len(e.Values) && e.Values[rank] > max(0, tol*e.Values[0]) {
		rank++
	}
	return Eigen{Values: e.Values[:rank], Vectors: dense.Rows(e.Vectors, 0, rank)}
}

// TopEigen returns the q leading eigenpairs of the symmetric matrix a (m×m, both
// triangles filled), or all m if q ≥ m. It costs O(m²q) per sweep and does not
// decompose the whole matrix if q is small compared to m.
func TopEigen(a blas64.General, q int) (Eigen, error) { return Solver{}.TopEigen(a, q) }

// TopEigen is the function of that name with the solver's backend.
func (s Solver) TopEigen(a blas64.General, q int) (Eigen, error) {
	if err := dense.Valid(a); err != nil {
		return Eigen{}, fmt.Errorf("eigenpairs: %w", err)
	}
	if a.Rows != a.Cols {
		return Eigen{}, fmt.Errorf("eigenpairs: matrix of %d×%d is not square", a.Rows, a.Cols)
	}
	q = min(q, a.Rows)
	if q <= 0 {
		return Eigen{Vectors: dense.New(0, a.Cols)}, nil
	}
	if few(q, a.Rows) {
		e, err := s.filtered(a, q)
		if err == nil || stopped(err) {
			fixSigns(e.Vectors)
			return e, err
		}
	}
	e, err := fullEigen(a, q)
	fixSigns(e.Vectors)
	return e, err
}

// ThinEigen returns at most q eigenpairs of xᵀ·x/divisor (d×d) from the Gram
// matrix of the rows of x (n×d), without those that are zero to working precision;
// at most n remain. It costs O(n²d) and needs no d×d matrix.
func (s Solver) ThinEigen(x blas64.General, q int, divisor float64) (Eigen, error) {
	e, err := s.gramEigen(x, q)
	if err != nil {
		return Eigen{}, err
	}
	e = e.Positive(rankTolerance)
	v, values := dense.New(len(e.Values), x.Cols), slices.Clone(e.Values)
	floats.Scale(1/divisor, values)
	if len(values) > 0 {
		if err := s.combine(v, e.Vectors, x); err != nil {
			return Eigen{}, err
		}
	}
	return Eigen{Values: values, Vectors: thinVectors(v)}, nil
}

// gramEigen returns the q leading eigenpairs of x·xᵀ.
func (s Solver) gramEigen(x blas64.General, q int) (Eigen, error) {
	if err := dense.Valid(x); err != nil {
		return Eigen{}, fmt.Errorf("eigenpairs: %w", err)
	}
	if s.Float32 && few(q, x.Rows) {
		if e, err := s.thin(x, q); err == nil || stopped(err) {
			return e, err
		}
	}
	g, err := s.Gram(x)
	if err != nil {
		return Eigen{}, err
	}
	return s.TopEigen(g, q)
}

// few reports whether finding only q eigenpairs of a matrix of m rows is faster
// than a full decomposition.
func few(q, m int) bool { return m > smallOrder && 4*q < m && q > 0 }

// combineRows is the number of rows of x that one goroutine combines at a time.
const combineRows = 256

// combine writes w·x into dst on all cores.
func (s Solver) combine(dst, w, x blas64.General) error {
	parts := make([]blas64.General, (x.Rows+combineRows-1)/combineRows)
	err := dense.ParallelErr(len(parts), func(p int) error {
		from := p * combineRows
		n := min(combineRows, x.Rows-from)
		parts[p] = dense.New(dst.Rows, dst.Cols)
		return s.Raw().MulPlain64(parts[p], dense.View(w, 0, from, w.Rows, n), dense.Rows(x, from, from+n))
	})
	for _, part := range parts {
		dense.Add(dst, 1, part)
	}
	return err
}

// thinVectors makes the rows orthonormal. They already are up to rounding, which
// matters for the smallest eigenvalues.
func thinVectors(v blas64.General) blas64.General {
	out := dense.New(v.Rows, v.Cols)
	rank := 0
	for i := range v.Rows {
		row := dense.Row(out, rank)
		copy(row, dense.Row(v, i))
		if orthonormalise(row, out, rank, dependent) {
			rank++
		}
	}
	out = dense.Rows(out, 0, rank)
	fixSigns(out)
	return out
}

func fullEigen(a blas64.General, q int) (Eigen, error) {
	m := a.Rows
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s.SetSym(i, j, a.Data[i*a.Stride+j])
		}
	}
	var es mat.EigenSym
	if !es.Factorize(s, true) {
		return Eigen{}, errors.New("eigenpairs: the decomposition did not converge")
	}
	values := es.Values(nil)
	var u mat.Dense
	es.VectorsTo(&u)
	e := Eigen{Values: make([]float64, q), Vectors: dense.New(q, m)}
	for i := range q {
		e.Values[i] = values[m-1-i]
		mat.Col(dense.Row(e.Vectors, i), m-1-i, &u)
	}
	return e, nil
}

// fixSigns makes the entry of largest magnitude of every row positive, so that the
// same matrix always gives the same vectors.
func fixSigns(v blas64.General) {
	for i := range v.Rows {
		row := dense.Row(v, i)
		if len(row) > 0 && row[blas64.Iamax(dense.Vector(row))] < 0 {
			blas64.Scal(-1, dense.Vector(row))
		}
	}
}
