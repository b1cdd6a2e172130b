package dkl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// forward writes x·wᵀ + b into dst.
func (l affine) forward(m linalg.Multiplier, dst, x blas64.General) error {
	if err := m.MulTrans64(dst, x, l.w); err != nil {
		return err
	}
	for i := range dst.Rows {
		to := row(dst, i)
		for j, b := range l.b {
			to[j] += b
		}
	}
	return nil
}

// gradient writes into l the gradients gᵀ·x of the weights and Σ g of the
// biases, g being that of the output.
func (l affine) gradient(m linalg.Multiplier, x, g blas64.General) error {
	clear(l.b)
	for i := range g.Rows {
		from := row(g, i)
		for j := range l.b {
			l.b[j] += from[j]
		}
	}
	return linalg.Plain64(m.Raw(), l.w, linalg.Transposed64(g), x)
}

// input writes g·w, the gradient of the input, into dst.
func (l affine) input(m linalg.Multiplier, dst, g blas64.General) error {
	return linalg.Plain64(m.Raw(), dst, g, l.w)
}

// add adds x to dst.
func add(dst, x blas64.General) {
	for i := range dst.Rows {
		to := row(dst, i)
		for j, v := range row(x, i) {
			to[j] += v
		}
	}
}

// row returns row i of m, which has columns, sharing its memory.
func row(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }
