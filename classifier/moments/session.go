package moments

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// Session checks what LearnMoments is given and returns it sorted by class, as
// classifier.GroupByClass sorts examples; dim 0 accepts any dimension. It
// returns an error unless names are distinct and not empty, all statistics are
// of the same dimension, and none is without examples.
func Session(classes []string, stats []*Moments, dim int) ([]string, []*Moments, error) {
	if len(classes) == 0 || len(classes) != len(stats) {
		return nil, nil, fmt.Errorf("%d classes with %d statistics", len(classes), len(stats))
	}
	if err := classifier.CheckClasses(classes); err != nil {
		return nil, nil, err
	}
	byName := make(map[string]*Moments, len(classes))
	for i, m := range stats {
		if m.n == 0 {
			return nil, nil, fmt.Errorf("class %q: %w", classes[i], errEmpty)
		}
		if dim == 0 {
			dim = m.d
		}
		if m.d != dim {
			return nil, nil, fmt.Errorf("class %q: statistics of %d values an example, want %d: they come from another backbone", classes[i], m.d, dim)
		}
		byName[classes[i]] = m
	}
	names, sorted := slices.Clone(classes), make([]*Moments, len(classes))
	slices.Sort(names)
	for i, name := range names {
		sorted[i] = byName[name]
	}
	return names, sorted, nil
}

// Total returns the first moment.
func (m *Moments) Total() Total {
	sum := m.Mean()
	for j := range sum {
		sum[j] *= float64(m.n)
	}
	return Total{N: m.n, Sum: sum}
}

// And returns the total of both.
func (t Total) And(o Total) Total {
	if len(t.Sum) == 0 {
		t, o = o, t
	}
	sum := slices.Clone(t.Sum)
	for j, v := range o.Sum {
		sum[j] += v
	}
	return Total{N: t.N + o.N, Sum: sum}
}

// Trace returns the sum of squared distances from the mean, tr(M2).
func (m *Moments) Trace() float64 {
	if !m.Thin() {
		return m.trace()
	}
	var sum float64
	for _, v := range centred(m.matrix(), m.Mean()).Data {
		sum += v * v
	}
	return sum
}

// errFull says that the examples are gone.
var errFull = errors.New("the examples themselves are not kept any more")

// Select returns statistics of some of the examples in the thin form, in the
// order given; rows count from 0 in the order in which they were added.
func (m *Moments) Select(rows []int) (*Moments, error) {
	if !m.Thin() {
		return nil, fmt.Errorf("select examples: %w", errFull)
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

// Stack returns the tensors of several statistics, those of stats[i] with "i."
// in front of their names.
func Stack(stats []*Moments) map[string]classifier.Tensor {
	out := make(map[string]classifier.Tensor)
	for i, m := range stats {
		for key, t := range m.Tensors() {
			out[strconv.Itoa(i)+"."+key] = t
		}
	}
	return out
}

// Unstack takes back what Stack returned for n statistics of examples of d
// values. No tensor may be left over, and none may be without examples.
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

// possible returns an error for what no examples can have: none at all, or a
// negative variance beyond rounding.
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
