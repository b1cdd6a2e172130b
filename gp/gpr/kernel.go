package gpr

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A Kernel is a covariance function κ: an RBF or a Linear. Each value of a block
// is the same to the last bit whatever else is in the block.
type Kernel interface {
	// block writes κ(a_i, b_j) into dst (n×m) in O(nmd), with products on m.
	block(m linalg.Backend, dst blas64.General, a, b inputs) error
	// diagonal writes κ(a_i, a_i) into dst (n).
	diagonal(dst []float64, a blas64.General)
}

// RBF is s·exp(−‖a−b‖²/2ℓ²).
type RBF struct {
	// Lengthscale is ℓ, in the units of the inputs.
	Lengthscale float64
	// Outputscale is s, the prior variance.
	Outputscale float64
}

func (k RBF) block(m linalg.Backend, dst blas64.General, a, b inputs) error {
	if err := m.MulTrans64(dst, a.General, b.General); err != nil {
		return err
	}
	const values = 1024 // of a row, for one goroutine
	rbf := kernel.Kernel{Kind: kernel.RBF, Lengthscale: k.Lengthscale, Outputscale: k.Outputscale}
	across := (dst.Cols + values - 1) / values
	dense.Parallel(dst.Rows*across, func(task int) {
		i, from := task/across, task%across*values
		row := dense.Row(dst, i)[from:min(from+values, dst.Cols)]
		rbf.Row(row, row, a.squares[i], b.squares[from:])
	})
	return nil
}

func (k RBF) diagonal(dst []float64, _ blas64.General) {
	for i := range dst {
		dst[i] = k.Outputscale
	}
}

// Linear is s·aᵀb + c.
type Linear struct {
	// Outputscale is s, the prior variance of each weight.
	Outputscale float64
	// Bias is c, the prior variance of a constant.
	Bias float64
}

func (k Linear) block(m linalg.Backend, dst blas64.General, a, b inputs) error {
	if err := m.MulTrans64(dst, a.General, b.General); err != nil {
		return err
	}
	for i := range dst.Rows {
		row := dense.Row(dst, i)
		for j := range row {
			row[j] = k.Outputscale*row[j] + k.Bias
		}
	}
	return nil
}

func (k Linear) diagonal(dst []float64, a blas64.General) {
	for i, sq := range squares(a) {
		dst[i] = k.Outputscale*sq + k.Bias
	}
}

// squares returns the squared lengths of the rows.
func squares(a blas64.General) []float64 {
	const rows = 256 // for one goroutine
	out := make([]float64, a.Rows)
	dense.Parallel((a.Rows+rows-1)/rows, func(task int) {
		for i := task * rows; i < min(a.Rows, (task+1)*rows); i++ {
			out[i] = dense.Dot(dense.Row(a, i), dense.Row(a, i))
		}
	})
	return out
}

// gram writes K+σ²I of the rows of x into the triangle t, which has as many rows.
// Inner products are computed on m.
func gram(ctx context.Context, m linalg.Backend, t *triangle, kernel Kernel, x inputs, noise float64) error {
	for p := range t.panels {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, rows := p*side, t.rowsIn(p)
		view := t.view(p, 0, first+rows)
		if err := kernel.block(m, view, x.rows(first, rows), x.rows(0, first+rows)); err != nil {
			return err
		}
		for i := range rows {
			row := dense.Row(view, i)
			row[first+i] += noise
			clear(row[first+i+1:])
			if err := finite(row); err != nil {
				return fmt.Errorf("example %d: %w", first+i, err)
			}
		}
	}
	return nil
}

func finite(values []float64) error {
	for _, v := range values {
		if v-v != 0 {
			return fmt.Errorf("the kernel gives %g", v)
		}
	}
	return nil
}
