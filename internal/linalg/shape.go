package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

type shape struct{ rows, cols, stride, len int }

func shape32(m blas32.General) shape { return shape{m.Rows, m.Cols, m.Stride, len(m.Data)} }
func shape64(m blas64.General) shape { return shape{m.Rows, m.Cols, m.Stride, len(m.Data)} }

func valid(s shape) error {
	switch {
	case s.rows < 0 || s.cols < 0:
		return fmt.Errorf("matrix of %d×%d", s.rows, s.cols)
	case s.rows == 0 || s.cols == 0:
		return nil
	case s.stride < s.cols:
		return fmt.Errorf("matrix of %d×%d: stride %d is less than the columns", s.rows, s.cols, s.stride)
	case (s.len-s.cols)/s.stride < s.rows-1 || s.len < s.cols:
		return fmt.Errorf("matrix of %d×%d, stride %d: only %d values", s.rows, s.cols, s.stride, s.len)
	}
	return nil
}

// fitsPlain checks dst = a·b.
func fitsPlain(dst, a, b shape) error {
	if err := valid(b); err != nil {
		return fmt.Errorf("product: %w", err)
	}
	return fits(dst, a, shape{b.cols, b.rows, max(b.rows, 1), b.rows * b.cols})
}

// fits checks dst = a·bᵀ.
func fits(dst, a, b shape) error {
	for _, s := range []shape{dst, a, b} {
		if err := valid(s); err != nil {
			return fmt.Errorf("product: %w", err)
		}
	}
	if a.cols != b.cols || dst.rows != a.rows || dst.cols != b.rows || a.cols == 0 {
		return fmt.Errorf("product: %d×%d from %d×%d and %d×%d transposed", dst.rows, dst.cols, a.rows, a.cols, b.rows, b.cols)
	}
	return nil
}
