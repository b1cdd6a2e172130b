package gpr

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// inputs holds the inputs of examples (n×d) with their squared lengths (n). A
// distance-based kernel needs all n lengths for a single row of K; storing them
// saves a second pass over the inputs.
type inputs struct {
	blas64.General
	squares []float64
}

// measured returns inputs with their squared lengths: O(nd).
func measured(x blas64.General) inputs { return inputs{x, squares(x)} }

// clone returns a tight copy.
func (x inputs) clone() inputs {
	return inputs{dense.Clone(x.General), append(make([]float64, 0, x.Rows), x.squares...)}
}

// with returns x with more inputs appended, in the memory behind its own if that
// suffices.
func (x inputs) with(more blas64.General) inputs {
	return inputs{withRows(x.General, more), append(x.squares[:x.Rows], squares(more)...)}
}

// without removes examples, in ascending order, in place.
func (x inputs) without(gone []int) inputs {
	return inputs{withoutRows(x.General, gone), without(x.squares[:0], x.squares, gone)}
}

// set replaces the input of example i.
func (x inputs) set(i int, row []float64) {
	copy(dense.Row(x.General, i), row)
	x.squares[i] = dense.Dot(row, row)
}

// rows returns some inputs, sharing their memory.
func (x inputs) rows(first, count int) inputs {
	return inputs{rowsOf(x.General, first, count), x.squares[first : first+count]}
}

// pick returns a copy of the inputs of some examples.
func (x inputs) pick(examples []int) inputs {
	out := inputs{dense.Gather(x.General, examples), make([]float64, len(examples))}
	for i, e := range examples {
		out.squares[i] = x.squares[e]
	}
	return out
}

// bytes returns the memory used by x.
func (x inputs) bytes() int { return 8 * (cap(x.Data) + cap(x.squares)) }
