package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A shape holds what the checks of a product need to know about a matrix; err is
// not nil if its data does not match its size.
type shape struct {
	rows, cols int
	err        error
}

func shape32(m blas32.General) shape { return shape{m.Rows, m.Cols, dense.Valid32(m)} }
func shape64(m blas64.General) shape { return shape{m.Rows, m.Cols, dense.Valid(m)} }

// transposed returns the shape of the transposed matrix.
func (s shape) transposed() shape { return shape{s.cols, s.rows, s.err} }

// fits returns an error unless the shapes match dst = a·bᵀ.
func fits(dst, a, b shape) error {
	for _, s := range []shape{dst, a, b} {
		if s.err != nil {
			return fmt.Errorf("product: %w", s.err)
		}
	}
	if a.cols != b.cols || dst.rows != a.rows || dst.cols != b.rows || a.cols == 0 {
		return fmt.Errorf("product: %d×%d from %d×%d and %d×%d transposed", dst.rows, dst.cols, a.rows, a.cols, b.rows,
			b.cols)
	}
	return nil
}
