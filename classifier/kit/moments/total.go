package moments

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A Total is the first moment of a class: the number of examples and their sum.
// It is never changed, only replaced; the zero Total has no examples.
type Total struct {
	N   int
	Sum []float64 // d
}

// Fields describes the tensors of a total of examples of d values: "count" and
// "sum" (d).
func (t *Total) Fields(c *classifier.Codec, d int) {
	c.Int("count", &t.N, 1, math.MaxInt32)
	c.Float64("sum", &t.Sum, d)
}

// Total returns the first moment.
func (m *Moments) Total() Total {
	sum := m.Mean()
	for j := range sum {
		sum[j] *= float64(m.n)
	}
	return Total{N: m.n, Sum: sum}
}

// And returns the sum of both totals.
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

// plus returns the total with the rows of z (b×d) added.
func (t Total) plus(z blas64.General) Total {
	sum := make([]float64, z.Cols)
	copy(sum, t.Sum)
	return Total{N: t.N + z.Rows, Sum: accumulate(sum, z, 1)}
}

// minus returns the total without the rows of z. It wraps ErrRemove if these
// cannot have been part of it: if there are more of them, if the rest is longer
// than the remaining examples can be when none is longer than longest (+Inf if
// unknown), or if no example remains but some of the sum does.
func (t Total) minus(z blas64.General, longest float64) (Total, error) {
	const tol = 1e-9
	if z.Rows > t.N {
		return t, fmt.Errorf("remove %d examples of %d: %w", z.Rows, t.N, ErrRemove)
	}
	rest := Total{N: t.N - z.Rows, Sum: accumulate(slices.Clone(t.Sum), z, -1)}
	left, before := length(rest.Sum), length(t.Sum)
	if (rest.N == 0 && left > tol*(1+before)) || (rest.N > 0 && left > longest*(float64(rest.N)+tol)) {
		return t, fmt.Errorf("remove %d examples: %w", z.Rows, ErrRemove)
	}
	return rest, nil
}

// Mean returns the mean of the examples (d).
func (t Total) Mean() []float64 {
	mean := make([]float64, len(t.Sum))
	for j, v := range t.Sum {
		mean[j] = v / float64(max(t.N, 1))
	}
	return mean
}

// Direction returns the sum scaled to length 1, zeros where it is zero.
func (t Total) Direction() []float64 {
	m := make([]float64, len(t.Sum))
	if l := length(t.Sum); l > 0 {
		for j, v := range t.Sum {
			m[j] = v / l
		}
	}
	return m
}

func accumulate(sum []float64, z blas64.General, sign float64) []float64 {
	for i := range z.Rows {
		for j, v := range dense.Row(z, i) {
			sum[j] += sign * v
		}
	}
	return sum
}

// Scatter returns the sum of squared distances of the rows of z from their mean.
func Scatter(z blas64.General) float64 {
	total := Total{}.plus(z)
	mean := total.Mean()
	var sq float64
	for i := range z.Rows {
		for j, v := range dense.Row(z, i) {
			sq += (v - mean[j]) * (v - mean[j])
		}
	}
	return sq
}

// length returns the Euclidean length.
func length(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return blas64.Nrm2(dense.Vector(v))
}
