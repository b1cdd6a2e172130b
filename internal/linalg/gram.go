package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
)

// A Solver computes Gram matrices and leading eigenpairs with a backend, gonum
// where it has none. The functions of the same names take gonum.
type Solver struct{ Multiplier Multiplier }

func (s Solver) multiplier() Multiplier {
	if s.Multiplier == nil {
		return Gonum{}
	}
	return s.Multiplier
}

// gramBlock is the side of the blocks of a Gram matrix.
const gramBlock = 192

// Gram returns x·xᵀ (n×n) with gonum.
func Gram(x blas64.General) (blas64.General, error) { return Solver{}.Gram(x) }

// Scatter returns xᵀ·x (d×d), the sum of the outer products of the rows, with
// gonum.
func Scatter(x blas64.General) (blas64.General, error) { return Solver{}.Scatter(x) }

// Gram returns x·xᵀ (n×n), computing one triangle only.
func (s Solver) Gram(x blas64.General) (blas64.General, error) {
	if err := valid(shape64(x)); err != nil {
		return blas64.General{}, fmt.Errorf("gram: %w", err)
	}
	g := New64(x.Rows, x.Rows)
	if x.Rows == 0 || x.Cols == 0 {
		return g, nil
	}
	var first firstError
	side := (x.Rows + gramBlock - 1) / gramBlock
	Parallel(side*(side+1)/2, func(t int) {
		i, j := triangle(t)
		i, j = i*gramBlock, j*gramBlock
		n, m := min(gramBlock, x.Rows-i), min(gramBlock, x.Rows-j)
		first.keep(s.multiplier().Mul64(view64(g, j, i, m, n), view64(x, j, 0, m, x.Cols), view64(x, i, 0, n, x.Cols)))
	})
	mirror(g)
	return g, first.err
}

// triangle numbers the pairs j ≤ i: 0 is (0,0), 1 is (1,0), 2 is (1,1) …
func triangle(t int) (i, j int) {
	for t > i {
		t -= i + 1
		i++
	}
	return i, t
}

// mirror copies the upper triangle into the lower one.
func mirror(g blas64.General) {
	for i := range g.Rows {
		for j := range i {
			g.Data[i*g.Stride+j] = g.Data[j*g.Stride+i]
		}
	}
}

// Scatter returns xᵀ·x (d×d), the sum of the outer products of the rows.
func (s Solver) Scatter(x blas64.General) (blas64.General, error) {
	if err := valid(shape64(x)); err != nil {
		return blas64.General{}, fmt.Errorf("scatter: %w", err)
	}
	return s.Gram(transposed(x))
}

// transposed works in squares, so that both sides stay in the cache.
func transposed(x blas64.General) blas64.General {
	const square = 32
	t := New64(x.Cols, x.Rows)
	across := (x.Cols + square - 1) / square
	Parallel(across, func(p int) {
		last := min((p+1)*square, x.Cols)
		for first := 0; first < x.Rows; first += square {
			for j := p * square; j < last; j++ {
				for i := first; i < min(first+square, x.Rows); i++ {
					t.Data[j*t.Stride+i] = x.Data[i*x.Stride+j]
				}
			}
		}
	})
	return t
}
