package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Solver computes Gram matrices and leading eigenpairs with a backend. The functions of the
// same names use gonum.
type Solver struct {
	Backend
	// Float32 reports whether eigenvectors are rounded to float32 afterwards, which
	// allows a residual of 1e−6 of the largest eigenvalue.
	Float32 bool
}

func (s Solver) precision() precision {
	if s.Float32 {
		return single()
	}
	return full()
}

// gramBlock is the side of the blocks of a Gram matrix.
const gramBlock = 192

// Gram returns x·xᵀ (n×n) with gonum. It panics unless x is valid.
func Gram(x blas64.General) blas64.General {
	g, err := Solver{}.Gram(x)
	if err != nil {
		panic(err)
	}
	return g
}

// Gram returns x·xᵀ (n×n), computing one triangle only.
func (s Solver) Gram(x blas64.General) (blas64.General, error) {
	if err := dense.Valid(x); err != nil {
		return blas64.General{}, fmt.Errorf("gram: %w", err)
	}
	g := dense.New(x.Rows, x.Rows)
	if x.Rows == 0 || x.Cols == 0 {
		return g, nil
	}
	kernel := s.kernel(x)
	return g, eachTriangle(x.Rows, func(i, j, n, m int) error {
		err := kernel.Mul64(dense.View(g, j, i, m, n), dense.View(x, j, 0, m, x.Cols), dense.View(x, i, 0, n, x.Cols))
		mirror(g.Data, g.Stride, i, i+n, j, j+m)
		return err
	})
}

// gram32 returns x·xᵀ in float32.
func (s Solver) gram32(x blas32.General) (blas32.General, error) {
	g := dense.New32(x.Rows, x.Rows)
	kernel := s.Raw()
	return g, eachTriangle(x.Rows, func(i, j, n, m int) error {
		err := kernel.Mul32(dense.View32(g, j, i, m, n), dense.View32(x, j, 0, m, x.Cols),
			dense.View32(x, i, 0, n, x.Cols))
		mirror(g.Data, g.Stride, i, i+n, j, j+m)
		return err
	})
}

// eachTriangle covers the upper triangle of a matrix with blocks of columns
// i … i+n−1 and rows j … j+m−1, j ≤ i, in parallel.
func eachTriangle(rows int, do func(i, j, n, m int) error) error {
	side := (rows + gramBlock - 1) / gramBlock
	return dense.ParallelErr(side*(side+1)/2, func(t int) error {
		i, j := 0, t // the pairs j ≤ i: (0,0), (1,0), (1,1) …
		for j > i {
			i++
			j -= i
		}
		i, j = i*gramBlock, j*gramBlock
		return do(i, j, min(gramBlock, rows-i), min(gramBlock, rows-j))
	})
}

// kernel returns the kernel that multiplies blocks of x by each other.
func (s Solver) kernel(x blas64.General) Kernel {
	if x.Rows*x.Cols < leastValues {
		return Gonum{}
	}
	return s.Raw()
}

// mirror copies the part of rows j … jEnd−1 and columns i … iEnd−1 above the
// diagonal to below it.
func mirror[F float32 | float64](g []F, stride, i, iEnd, j, jEnd int) {
	for r := i; r < iEnd; r++ {
		for c := j; c < min(r, jEnd); c++ {
			g[r*stride+c] = g[c*stride+r]
		}
	}
}

// Scatter returns xᵀ·x (d×d), the sum of the outer products of the rows.
func (s Solver) Scatter(x blas64.General) (blas64.General, error) {
	if err := dense.Valid(x); err != nil {
		return blas64.General{}, fmt.Errorf("scatter: %w", err)
	}
	return s.Gram(dense.Transposed(x))
}
