package linalg

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// productRows of the matrix are multiplied by one goroutine at a time.
const productRows = 64

// times writes v·a (b×m) into dst, a being the symmetric matrix.
type times func(dst, v blas64.General) error

// times64 multiplies by a (m×m) on all cores.
func (s Solver) times64(a blas64.General) times {
	kernel := s.multiplier().Raw()
	return func(dst, v blas64.General) error {
		return eachPart(a.Rows, func(from, n int) error {
			return kernel.Mul64(view64(dst, 0, from, v.Rows, n), v, view64(a, from, 0, n, a.Cols))
		})
	}
}

// times32 is times64 in float32.
func (s Solver) times32(a blas32.General) times {
	kernel := s.multiplier().Raw()
	var v32, dst32 blas32.General
	return func(dst, v blas64.General) error {
		if v32.Rows == 0 {
			v32, dst32 = New32(v.Rows, v.Cols), New32(v.Rows, v.Cols)
		}
		narrowInto(v32.Data, v.Data)
		err := eachPart(a.Rows, func(from, n int) error {
			return kernel.Mul32(view32(dst32, 0, from, v.Rows, n), v32, view32(a, from, 0, n, a.Cols))
		})
		for i, x := range dst32.Data {
			dst.Data[i] = float64(x)
		}
		return err
	}
}

// timesThin multiplies by x·xᵀ, x being n×d.
func (s Solver) timesThin(x blas64.General) times {
	kernel := s.multiplier().Raw()
	return func(dst, v blas64.General) error {
		vx := New64(v.Rows, x.Cols)
		if err := s.combine(vx, v, x); err != nil {
			return err
		}
		return eachPart(x.Rows, func(from, n int) error {
			return kernel.Mul64(view64(dst, 0, from, v.Rows, n), vx, view64(x, from, 0, n, x.Cols))
		})
	}
}

// eachPart cuts rows into parts, in parallel.
func eachPart(rows int, do func(from, n int) error) error {
	var first firstError
	tasks := max(1, rows/productRows)
	Parallel(tasks, func(t int) {
		from, to := t*productRows, (t+1)*productRows
		if t == tasks-1 {
			to = rows
		}
		first.keep(do(from, to-from))
	})
	return first.err
}

// narrow returns m in float32, tight, its largest value scaled to 1: neither m
// nor its products then overflow, and eigenvectors are the same.
func narrow(m blas64.General) blas32.General {
	out := New32(m.Rows, m.Cols)
	by := 1 / largest(m)
	Parallel(m.Rows, func(i int) {
		row := out.Data[i*out.Stride : (i+1)*out.Stride]
		for j, x := range rowOf(m, i) {
			row[j] = float32(x * by)
		}
	})
	return out
}

// largest is the largest size of a value, 1 where there is none.
func largest(m blas64.General) float64 {
	rows := make([]float64, m.Rows)
	Parallel(m.Rows, func(i int) {
		var most float64
		for _, x := range rowOf(m, i) {
			if x = math.Abs(x); x > most {
				most = x
			}
		}
		rows[i] = most
	})
	if most := slices.Max(rows); most > 0 {
		return most
	}
	return 1
}

func narrowInto(dst []float32, src []float64) {
	for i, x := range src {
		dst[i] = float32(x)
	}
}
