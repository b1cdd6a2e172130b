package moments

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Names of the tensors of a Moments.
const (
	tensorRows = "rows" // n×d float32, the thin form
	tensorN    = "n"    // the full form: n, mean (d), M2 (d(d+1)/2)
	tensorMean = "mean"
	tensorM2   = "m2"
)

// Tensors returns a copy of the statistics as named arrays: "rows" (n×d)
// in the thin form; "n", "mean" (d) and "m2" (upper triangle, row by row) in
// the full one.
func (m *Moments) Tensors() map[string]classifier.Tensor {
	if m.Thin() {
		return map[string]classifier.Tensor{
			tensorRows: {Shape: []int{m.n, m.d}, F32: append([]float32{}, m.rows...)},
		}
	}
	return map[string]classifier.Tensor{
		tensorN:    classifier.CountTensor([]int{m.n}),
		tensorMean: {Shape: []int{m.d}, F64: slices.Clone(m.mean)},
		tensorM2:   {Shape: []int{len(m.m2)}, F64: slices.Clone(m.m2)},
	}
}

// FromTensors restores what Tensors returned, for examples of d values.
func FromTensors(d int, tensors map[string]classifier.Tensor) (*Moments, error) {
	if d < 1 || d > math.MaxInt32 {
		return nil, fmt.Errorf("statistics: dimension %d", d)
	}
	s := classifier.State{Tensors: tensors}
	if t, ok := tensors[tensorRows]; ok {
		return fromRows(d, s, t)
	}
	n, err := s.Counts(tensorN, 1, 0, math.MaxInt32)
	if err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	m := &Moments{d: d, n: n[0]}
	if m.mean, err = s.Float64(tensorMean, d); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	if m.m2, err = s.Float64(tensorM2, d*(d+1)/2); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	return m, nil
}

func fromRows(d int, s classifier.State, t classifier.Tensor) (*Moments, error) {
	if len(t.Shape) != 2 || t.Shape[0] < 0 || t.Shape[0] > d {
		return nil, fmt.Errorf("statistics: tensor rows has shape %v, want up to %d rows of %d", t.Shape, d, d)
	}
	rows, err := s.Float32(tensorRows, t.Shape[0], d)
	if err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	return &Moments{d: d, n: t.Shape[0], rows: rows}, nil
}
