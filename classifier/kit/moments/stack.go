package moments

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Stack returns the tensors of several statistics; the names of those of
// stats[i] begin with i, as in "3.rows".
func Stack(stats []*Moments) map[string]classifier.Tensor {
	out := make(map[string]classifier.Tensor)
	for i, m := range stats {
		for key, t := range m.Tensors() {
			out[strconv.Itoa(i)+"."+key] = t
		}
	}
	return out
}

// Unstack restores what Stack returned for n statistics of examples of d
// values. Every tensor must be used, and every statistic must have examples.
func Unstack(d, n int, tensors map[string]classifier.Tensor) ([]*Moments, error) {
	parts := make(map[string]map[string]classifier.Tensor)
	for name, t := range tensors {
		index, key, _ := strings.Cut(name, ".")
		if parts[index] == nil {
			parts[index] = make(map[string]classifier.Tensor)
		}
		parts[index][key] = t
	}
	if len(parts) != n {
		return nil, fmt.Errorf("statistics: tensors of %d classes, want %d", len(parts), n)
	}
	out := make([]*Moments, n)
	for i := range out {
		m, err := FromTensors(d, parts[strconv.Itoa(i)])
		if err == nil {
			err = m.possible()
		}
		if err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
		out[i] = m
	}
	return out, nil
}

// possible returns an error for statistics that no examples can have: no
// examples, or a negative variance beyond rounding.
func (m *Moments) possible() error {
	if m.n == 0 {
		return errEmpty
	}
	if m.Thin() {
		return nil
	}
	p, tol := 0, removeTol*m.spread()
	for i := range m.d {
		if m.m2[p] < -tol {
			return fmt.Errorf("statistics: the variance of value %d is negative", i)
		}
		p += m.d - i
	}
	return nil
}

// Select returns the statistics of some of the examples in the thin form, in
// the given order; rows count from 0 in the order in which they were added.
func (m *Moments) Select(rows []int) (*Moments, error) {
	if !m.Thin() {
		return nil, errors.New("select examples: the examples themselves are no longer stored")
	}
	out := &Moments{d: m.d, n: len(rows), rows: make([]float32, 0, len(rows)*m.d)}
	for _, r := range rows {
		if r < 0 || r >= m.n {
			return nil, fmt.Errorf("select examples: row %d of %d", r, m.n)
		}
		out.rows = append(out.rows, m.rows[r*m.d:(r+1)*m.d]...)
	}
	return out, nil
}

// Made reports whether the statistics are those of n examples with this mean,
// to within tol in every value.
func (m *Moments) Made(n int, mean []float64, tol float64) bool {
	if m.n != n {
		return false
	}
	for j, v := range m.Mean() {
		if !(math.Abs(v-mean[j]) <= tol) {
			return false
		}
	}
	return true
}
