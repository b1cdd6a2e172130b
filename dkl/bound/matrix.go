package bound

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// band is how many rows of a triangle are multiplied at a time.
const band = 64

// factorize overwrites the lower triangle of a with its Cholesky factor.
func factorize(a blas64.General) error {
	if _, ok := lapack64.Potrf(symmetric(a)); !ok {
		return fmt.Errorf("training diverged, lower the rate: %w", &linalg.NotPSDError{Order: a.Rows, Jitter: jitter})
	}
	return nil
}

func symmetric(a blas64.General) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Lower, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

func lower(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// sized returns a matrix of that size in the memory of m where it fits.
func sized(m blas64.General, rows, cols int) blas64.General {
	if cap(m.Data) < rows*cols {
		return linalg.New64(rows, cols)
	}
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: m.Data[:rows*cols]}
}

func grown(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

func copyRows(dst, src blas64.General) {
	for i := range src.Rows {
		copy(row(dst, i), row(src, i))
	}
}

// block returns the first cols columns of rows first … last−1, sharing memory.
func block(m blas64.General, first, last, cols int) blas64.General {
	return blas64.General{Rows: last - first, Cols: cols, Stride: m.Stride, Data: m.Data[first*m.Stride : (last-1)*m.Stride+cols]}
}

// row returns row i of m, which has columns, sharing its memory.
func row(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Data: v, Inc: 1} }
