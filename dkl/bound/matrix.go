package bound

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// timesTrans writes a·bᵀ into dst.
func (v *node) timesTrans(dst, a, b blas64.General) error {
	return linalg.EachPart(a.Rows, func(from, n int) error {
		return v.raw.Mul64(rows(dst, from, n), rows(a, from, n), b)
	})
}

// factorize overwrites the lower triangle of a with its Cholesky factor.
func factorize(raw linalg.Raw, a blas64.General) error {
	if !linalg.Factorize(raw, a) {
		return fmt.Errorf("training diverged, lower the rate: %w", &linalg.NotPSDError{Order: a.Rows, Jitter: jitter})
	}
	return nil
}

// sized returns a matrix of that size in the memory of m where it fits.
func sized(m blas64.General, rows, cols int) blas64.General {
	if cap(m.Data) < rows*cols {
		return dense.New(rows, cols)
	}
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: m.Data[:rows*cols]}
}

func grown(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

// rows returns n rows, from one on, sharing memory.
func rows(m blas64.General, from, n int) blas64.General { return part(m, from, n, 0, m.Cols) }

// part returns some columns of n rows, from one on, sharing memory.
func part(m blas64.General, from, n, left, right int) blas64.General {
	return blas64.General{Rows: n, Cols: right - left, Stride: m.Stride, Data: m.Data[from*m.Stride+left : (from+n-1)*m.Stride+right]}
}
