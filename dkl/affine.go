package dkl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// forward writes x·wᵀ + b into dst.
func (l affine) forward(m linalg.Backend, dst, x blas64.General) error {
	if err := m.MulTrans64(dst, x, l.w); err != nil {
		return err
	}
	for i := range dst.Rows {
		to := dense.Row(dst, i)
		for j, b := range l.b {
			to[j] += b
		}
	}
	return nil
}

// gradient writes into l the gradients gᵀ·x of the weights and Σ g of the
// biases, g being that of the output.
func (l affine) gradient(m linalg.Backend, x, g blas64.General) error {
	clear(l.b)
	for i := range g.Rows {
		from := dense.Row(g, i)
		for j := range l.b {
			l.b[j] += from[j]
		}
	}
	return linalg.Plain64(m.Raw(), l.w, dense.Transposed(g), x)
}

// input writes g·w, the gradient of the input, into dst.
func (l affine) input(m linalg.Backend, dst, g blas64.General) error {
	return linalg.Plain64(m.Raw(), dst, g, l.w)
}
