package bound_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A library is a backend that is not gonum by its type.
type library struct{ linalg.Gonum }

// large has nodes of 220, 100 and 120 inducing inputs: the sizes that a library
// multiplies and that several goroutines share.
func large(t testing.TB, raw linalg.Kernel) *rig {
	t.Helper()
	leaf := slices.Concat(slices.Repeat([]int{0}, 70), slices.Repeat([]int{1}, 10), slices.Repeat([]int{3}, 60))
	return rigOf(t, []int{60, 40, 50, 70}, 300, raw, leaf, 13)
}

// What a library factors in blocks is what gonum factors at once.
func TestLibraryAgreesWithGonum(t *testing.T) {
	near(t, "gradients", large(t, library{}).gradients(t), large(t, linalg.Gonum{}).gradients(t))
}

// Central differences along directions where products are large.
func TestLargeGradientAgainstCentralDifferences(t *testing.T) {
	r := large(t, library{})
	g := r.gradients(t)[1:]
	for _, m := range []blas64.General{r.problem.Kmm, r.problem.Knm} {
		direction := r.normal(m.Rows, m.Cols)
		if m.Rows == m.Cols {
			direction = symmetrised(direction)
		}
		var want float64
		for i, d := range direction.Data {
			want += d * g[i]
		}
		g = g[len(direction.Data):]
		const step = 1e-5
		move := func(by float64) float64 {
			for i, d := range direction.Data {
				m.Data[i] += by * d
			}
			return r.loss(t)
		}
		got := (move(step) - move(-2*step)) / (2 * step)
		if move(step); math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("%d×%d: %.10g, central difference %.10g", m.Rows, m.Cols, want, got)
		}
	}
}

func symmetrised(m blas64.General) blas64.General {
	out := dense.New(m.Rows, m.Cols)
	for i := range m.Rows {
		for j := range m.Cols {
			out.Data[i*m.Cols+j] = m.Data[i*m.Cols+j] + m.Data[j*m.Cols+i]
		}
	}
	return out
}
