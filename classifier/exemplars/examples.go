// Package exemplars keeps the embeddings of a class, for heads that refit from
// them.
package exemplars

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Rows are the examples of a class, d values each, sorted by Compare, so that
// nothing depends on the order in which they came. They are never changed,
// only replaced.
type Rows [][]float32

// Plus returns the examples with the given rows of x, which are copied.
func (r Rows) Plus(x blas32.General, rows []int) Rows {
	out := slices.Clone(r)
	for _, i := range rows {
		out = append(out, slices.Clone(dense.Row32(x, i)))
	}
	slices.SortFunc(out, Compare)
	return out
}

// Minus returns the examples without the given rows of x, each of which must be
// there as often as it is taken away.
func (r Rows) Minus(x blas32.General, rows []int) (Rows, error) {
	out := slices.Clone(r)
	for _, i := range rows {
		at, ok := slices.BinarySearchFunc(out, dense.Row32(x, i), Compare)
		if !ok {
			return r, fmt.Errorf("example %d was never learned, or is forgotten already", i)
		}
		out = slices.Delete(out, at, at+1)
	}
	return out, nil
}

// Sorted says whether the rows are in order.
func (r Rows) Sorted() bool { return slices.IsSortedFunc(r, Compare) }

// Matrix returns the rows in float64 (n×d).
func (r Rows) Matrix(d int) blas64.General {
	m := dense.New(len(r), d)
	for i, row := range r {
		for j, v := range row {
			m.Data[i*m.Stride+j] = float64(v)
		}
	}
	return m
}

// Compare orders rows by their values; −0 before 0, so that only identical rows
// are equal.
func Compare(a, b []float32) int {
	for j := range a {
		if c := cmp.Or(cmp.Compare(a[j], b[j]), cmp.Compare(math.Float32bits(b[j]), math.Float32bits(a[j]))); c != 0 {
			return c
		}
	}
	return 0
}
