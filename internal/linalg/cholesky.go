package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// NotPSDError says that a matrix has no Cholesky factor: it is not positive
// definite, even with Jitter added to its diagonal.
type NotPSDError struct {
	// Order is the number of rows of the matrix.
	Order int
	// Jitter was added to the diagonal before the attempt.
	Jitter float64
}

func (e *NotPSDError) Error() string {
	return fmt.Sprintf("cholesky: matrix of order %d is not positive definite (%g added to its diagonal)", e.Order, e.Jitter)
}

// InverseCholesky returns L⁻¹ (m×m, lower triangle, zeros above) where
// a = L·Lᵀ, or a *NotPSDError.
func InverseCholesky(a blas64.General) (blas64.General, error) {
	chol, err := factorize(a, 0)
	if err != nil {
		return blas64.General{}, err
	}
	var l mat.TriDense
	chol.LTo(&l)
	if err := l.InverseTri(&l); err != nil {
		return blas64.General{}, fmt.Errorf("cholesky: matrix of order %d: %w", a.Rows, err)
	}
	inv := dense.New(a.Rows, a.Rows)
	for i := range a.Rows {
		for j := range i + 1 {
			inv.Data[i*inv.Stride+j] = l.At(i, j)
		}
	}
	return inv, nil
}

// CheckPSD returns a *NotPSDError unless a + jitter·I is positive definite.
func CheckPSD(a blas64.General, jitter float64) error {
	_, err := factorize(a, jitter)
	return err
}

func factorize(a blas64.General, jitter float64) (*mat.Cholesky, error) {
	if err := valid(shape64(a)); err != nil {
		return nil, fmt.Errorf("cholesky: %w", err)
	}
	if a.Rows != a.Cols || a.Rows == 0 {
		return nil, fmt.Errorf("cholesky: matrix of %d×%d", a.Rows, a.Cols)
	}
	s := mat.NewSymDense(a.Rows, nil)
	for i := range a.Rows {
		for j := i; j < a.Cols; j++ {
			s.SetSym(i, j, a.Data[i*a.Stride+j])
		}
		s.SetSym(i, i, s.At(i, i)+jitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		return nil, &NotPSDError{Order: a.Rows, Jitter: jitter}
	}
	return &chol, nil
}
