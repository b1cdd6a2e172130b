package gp

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// leastIterated is the n from which conjugate gradients take less time than a
// factor: about 60 products of n² each instead of n³/6.
const leastIterated = 192

// exactly is the length of the residual, relative to the right-hand side, at which a
// system is solved. It moves f by about that share, far below what a draw of ω can
// resolve.
const exactly = 1e-8

// solveTogether overwrites every row v_c with B_c⁻¹v_c, B_c = I + Ω_c^½KΩ_c^½; row c
// of half is Ω_c^½. The eigenvalues of B are 1 and more, most of them close to 1, so
// conjugate gradients need no preconditioner; a system that resists them is solved
// by its factor.
func (p Prior) solveTogether(v, half blas64.General) error {
	n := v.Cols
	x, product := dense.New(v.Rows, n), dense.New(v.Rows, n)
	direction, scaled := dense.Clone(v), dense.New(v.Rows, n)
	left, open := make([]float64, v.Rows), make([]float64, v.Rows) // ‖residual‖², and what may remain of it
	for c := range v.Rows {
		left[c] = dense.SumSquares(dense.Row(v, c))
		open[c] = exactly * exactly * left[c]
	}
	for range n / 3 { // after that a factor
		if !unsolved(left, open) {
			break
		}
		for i, h := range half.Data {
			scaled.Data[i] = h * direction.Data[i]
		}
		if err := linalg.MulFew64(p.backend.Raw(), product, scaled, p.k); err != nil {
			return err
		}
		for c := range v.Rows {
			if left[c] <= open[c] {
				continue
			}
			d, image := dense.Row(direction, c), dense.Row(product, c)
			for i, h := range dense.Row(half, c) {
				image[i] = d[i] + h*image[i]
			}
			step := left[c] / floats.Dot(d, image)
			floats.AddScaled(dense.Row(x, c), step, d)
			floats.AddScaled(dense.Row(v, c), -step, image)
			before := left[c]
			left[c] = dense.SumSquares(dense.Row(v, c))
			floats.AddScaledTo(d, dense.Row(v, c), left[c]/before, d)
		}
	}
	err := dense.ParallelErr(v.Rows, func(c int) error { // the rest of x
		if left[c] <= open[c] {
			return nil
		}
		system := dense.New(n, n)
		err := p.factor(system, dense.Row(half, c))
		if err == nil {
			solve(system, dense.Row(v, c))
			floats.Add(dense.Row(x, c), dense.Row(v, c))
		}
		return err
	})
	copy(v.Data, x.Data)
	return err
}

// unsolved reports whether a system is left.
func unsolved(left, open []float64) bool {
	for c, l := range left {
		if l > open[c] {
			return true
		}
	}
	return false
}
