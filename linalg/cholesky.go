package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// NotPSDError reports that a matrix has no Cholesky factor: it is not positive
// definite, even with Jitter added to its diagonal.
type NotPSDError struct {
	// Order is the number of rows of the matrix.
	Order int
	// Jitter was added to the diagonal before the attempt.
	Jitter float64
}

func (e *NotPSDError) Error() string {
	return fmt.Sprintf("cholesky: matrix of order %d is not positive definite (%g added to its diagonal)", e.Order,
		e.Jitter)
}

// Cholesky returns L (m×m, zeros above the diagonal) with a + jitter·I = L·Lᵀ,
// or a *NotPSDError. a is only read.
func Cholesky(raw Kernel, a blas64.General, jitter float64) (blas64.General, error) {
	l := dense.Clone(a)
	for i := range l.Rows {
		dense.Row(l, i)[i] += jitter
	}
	if !Factorize(raw, l) {
		return l, &NotPSDError{Order: a.Rows, Jitter: jitter}
	}
	for i := range l.Rows {
		clear(dense.Row(l, i)[i+1:])
	}
	return l, nil
}

// InverseCholesky returns L⁻¹ (m×m, zeros above the diagonal) for a = L·Lᵀ, or a
// *NotPSDError. Large products are by raw.
func InverseCholesky(raw Kernel, a blas64.General) (blas64.General, error) {
	if err := checkSquare(a); err != nil {
		return blas64.General{}, err
	}
	l, err := Cholesky(raw, a, 0)
	if err != nil {
		return blas64.General{}, err
	}
	return l, InvertLower(raw, l)
}

// CheckPSD returns a *NotPSDError unless a + jitter·I is positive definite.
func CheckPSD(a blas64.General, jitter float64) error {
	if err := checkSquare(a); err != nil {
		return err
	}
	_, err := Cholesky(Gonum{}, a, jitter)
	return err
}

func checkSquare(a blas64.General) error {
	if err := dense.Valid(a); err != nil {
		return fmt.Errorf("cholesky: %w", err)
	}
	if a.Rows != a.Cols || a.Rows == 0 {
		return fmt.Errorf("cholesky: matrix of %d×%d", a.Rows, a.Cols)
	}
	return nil
}

// LowerTriangle returns the lower triangle of a as BLAS takes it, sharing memory.
func LowerTriangle(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}
