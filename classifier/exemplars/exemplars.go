// Package exemplars stores the embeddings of a class, for heads that refit from
// them.
package exemplars

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Rows holds the examples of a class, d values each, sorted by Compare, so that
// the order in which they were added does not matter. Rows are never changed,
// only replaced.
type Rows [][]float32

// Plus returns the examples together with copies of the given rows of x.
func (r Rows) Plus(x blas32.General, rows []int) Rows {
	out := slices.Clone(r)
	for _, i := range rows {
		out = append(out, slices.Clone(dense.Row32(x, i)))
	}
	slices.SortFunc(out, Compare)
	return out
}

// Minus returns the examples without the given rows of x, each of which must
// occur at least as often as it is removed.
func (r Rows) Minus(x blas32.General, rows []int) (Rows, error) {
	out := slices.Clone(r)
	for _, i := range rows {
		at, ok := slices.BinarySearchFunc(out, dense.Row32(x, i), Compare)
		if !ok {
			return r, fmt.Errorf("example %d was never learned, or has already been forgotten", i)
		}
		out = slices.Delete(out, at, at+1)
	}
	return out, nil
}

// Matrix returns the rows in float64 (n×d).
func (r Rows) Matrix(d int) blas64.General {
	m := dense.New(len(r), d)
	for i, row := range r {
		for j, v := range row {
			dense.Row(m, i)[j] = float64(v)
		}
	}
	return m
}

// Compare orders rows by their values, with −0 before 0, so that only identical
// rows are equal.
func Compare(a, b []float32) int {
	for j := range a {
		if c := cmp.Or(cmp.Compare(a[j], b[j]), cmp.Compare(math.Float32bits(b[j]), math.Float32bits(a[j]))); c != 0 {
			return c
		}
	}
	return 0
}

// Tensors returns the tensors that Load reads: "count" (C) and "points" (n×d),
// class after class.
func Tensors(classes []Rows, d int) map[string]classifier.Tensor {
	var counts []int
	var points []float32
	for _, rows := range classes {
		counts, points = append(counts, len(rows)), append(points, slices.Concat(rows...)...)
	}
	return map[string]classifier.Tensor{
		"count":  classifier.CountTensor(counts),
		"points": {Shape: []int{len(points) / d, d}, F32: points},
	}
}

// Load returns the examples of the classes, 1 to most of each, from the
// tensors.
func Load(s classifier.State, classes []string, d, most int) ([]Rows, error) {
	counts, err := s.Counts("count", len(classes), 1, most)
	if err != nil {
		return nil, err
	}
	var total int
	for _, n := range counts {
		total += n
	}
	points, err := s.Float32("points", total, d)
	if err != nil {
		return nil, err
	}
	out := make([]Rows, len(classes))
	for i, n := range counts {
		for range n {
			out[i], points = append(out[i], points[:d:d]), points[d:]
		}
		if !slices.IsSortedFunc(out[i], Compare) {
			return nil, fmt.Errorf("tensor points: the rows of class %q are not sorted", classes[i])
		}
	}
	return out, nil
}
