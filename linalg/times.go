package linalg

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// productRows is the number of rows of the matrix that one goroutine multiplies at
// a time.
const productRows = 128

// times writes v·a (b×m) into dst for a symmetric matrix a. Implementations
// multiply the rows of a by the fewer rows of v, which is the operand that backends
// pack, and transpose the result.
type times func(dst, v blas64.General) error

// times64 multiplies by a (m×m) on all cores.
func (s Solver) times64(a blas64.General) times {
	kernel := s.Raw()
	return func(dst, v blas64.General) error { return MulFew64(kernel, dst, v, a) }
}

// MulFew64 writes v·aᵀ (b×m) into dst on all cores: v has few rows (b×d) and a
// many (m×d). Like Raw, it is for products within a fit.
func MulFew64(kernel Kernel, dst, v, a blas64.General) error {
	product := dense.New(a.Rows, v.Rows)
	return EachPart(a.Rows, func(from, n int) error {
		err := kernel.Mul64(dense.View(product, from, 0, n, v.Rows), dense.View(a, from, 0, n, a.Cols), v)
		for i := from; i < from+n; i++ {
			for j, x := range dense.Row(product, i) {
				dst.Data[j*dst.Stride+i] = x
			}
		}
		return err
	})
}

// times32 is times64 in float32.
func (s Solver) times32(a blas32.General) times {
	kernel := s.Raw()
	var v32, product blas32.General
	return func(dst, v blas64.General) error {
		if v32.Rows == 0 {
			v32, product = dense.New32(v.Rows, v.Cols), dense.New32(a.Rows, v.Rows)
		}
		for i, x := range v.Data {
			v32.Data[i] = float32(x)
		}
		return EachPart(a.Rows, func(from, n int) error {
			err := kernel.Mul32(dense.View32(product, from, 0, n, v.Rows), dense.View32(a, from, 0, n, a.Cols), v32)
			for i := from; i < from+n; i++ {
				for j, x := range dense.Row32(product, i) {
					dst.Data[j*dst.Stride+i] = float64(x)
				}
			}
			return err
		})
	}
}

// timesThin multiplies by x·xᵀ, where x is n×d.
func (s Solver) timesThin(x blas64.General) times {
	kernel := s.Raw()
	return func(dst, v blas64.General) error {
		vx := dense.New(v.Rows, x.Cols)
		if err := s.combine(vx, v, x); err != nil {
			return err
		}
		return MulFew64(kernel, dst, vx, x)
	}
}

// Plain64 writes a·b (n×m from n×k and k×m) into dst on all cores. Like Raw, it is
// for products within a fit.
func Plain64(raw Kernel, dst, a, b blas64.General) error {
	return EachPart(a.Rows, func(from, n int) error {
		return raw.MulPlain64(dense.View(dst, from, 0, n, dst.Cols), dense.View(a, from, 0, n, a.Cols), b)
	})
}

// EachPart splits one or more rows into parts that depend only on their number,
// calls do for all parts in parallel, and returns the error of the first part that
// fails.
func EachPart(rows int, do func(from, n int) error) error {
	tasks := max(1, rows/productRows)
	return dense.ParallelErr(tasks, func(t int) error {
		from, to := t*productRows, (t+1)*productRows
		if t == tasks-1 {
			to = rows
		}
		return do(from, to-from)
	})
}

// narrow returns m in float32, without gaps and scaled to a largest value of 1, so
// that neither m nor its products overflow. Eigenvectors are unchanged.
func narrow(m blas64.General) blas32.General {
	out := dense.New32(m.Rows, m.Cols)
	by := 1 / largest(m)
	dense.Parallel(m.Rows, func(i int) {
		row := dense.Row32(out, i)
		for j, x := range dense.Row(m, i) {
			row[j] = float32(x * by)
		}
	})
	return out
}

// largest returns the largest magnitude of a value, or 1 if all are zero.
func largest(m blas64.General) float64 {
	rows := make([]float64, m.Rows)
	dense.Parallel(m.Rows, func(i int) {
		rows[i] = floats.Norm(dense.Row(m, i), math.Inf(1))
	})
	if most := slices.Max(rows); most > 0 {
		return most
	}
	return 1
}
