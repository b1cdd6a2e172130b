package linalg

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// falling returns rows whose coordinates have standard deviations rate^j.
func falling(rows, cols int, rate float64) blas64.General {
	m := random64(rows, cols, 6)
	for i := range m.Data {
		m.Data[i] *= math.Pow(rate, float64(i%cols))
	}
	return m
}

// TestFloat32EigenEqualsFloat64: the less exact solver finds the same eigenvalues,
// each in its place, and eigenvectors to the promised precision, even if the last
// wanted eigenvalue is below the rounding of float32 products of the first.
func TestFloat32EigenEqualsFloat64(t *testing.T) {
	const q = 20
	for name, x := range map[string]blas64.General{
		"slope, n < d": decaying(300, 400, 3), "slope, n > d": decaying(500, 200, 3), "noise": random64(250, 300, 3),
		"to 1e-3": falling(200, 300, 0.83), "to 1e-6": falling(200, 300, 0.69), "to 1e-9": falling(300, 200, 0.58),
	} {
		exact := must.Get(Solver{}.ThinEigen(x, q, 1))(t)
		rough := must.Get(Solver{Float32: true}.ThinEigen(x, q, 1))(t)
		s := must.Get(Solver{}.Scatter(x))(t)
		square := must.Get(Solver{Float32: true}.TopEigen(s, q))(t)
		for way, e := range map[string]Eigen{"thin": rough, "square": square} {
			checkFloat32(t, fmt.Sprint(name, ", ", way), s, exact, e)
		}
	}
}

func checkFloat32(t *testing.T, name string, s blas64.General, exact, e Eigen) {
	t.Helper()
	if len(e.Values) != len(exact.Values) {
		t.Fatalf("%s: %d values, want %d", name, len(e.Values), len(exact.Values))
	}
	for i, v := range e.Values {
		if math.Abs(v-exact.Values[i]) > 1e-8*exact.Values[i]+1e-14*exact.Values[0] {
			t.Errorf("%s: value %d = %.12g, want %.12g", name, i, v, exact.Values[i])
		}
	}
	checkPairs(t, s, e, 2e-6)
	last := len(e.Values) - 1
	if along := math.Abs(blas64.Dot(blas64.Vector{N: s.Rows, Data: dense.Row(e.Vectors, last), Inc: 1},
		blas64.Vector{N: s.Rows, Data: dense.Row(exact.Vectors, last), Inc: 1})); along < 1-1e-5 {
		t.Errorf("%s: the last vector is off by %g", name, 1-along)
	}
}

// TestFloat32EigenOfAnyScale: values beyond the range of float32.
func TestFloat32EigenOfAnyScale(t *testing.T) {
	x := decaying(200, 300, 5)
	want := must.Get(Solver{Float32: true}.ThinEigen(x, 5, 1))(t)
	for _, power := range []int{-180, 180} {
		y := dense.Clone(x)
		for i := range y.Data {
			y.Data[i] = math.Ldexp(y.Data[i], power)
		}
		e := must.Get(Solver{Float32: true}.ThinEigen(y, 5, 1))(t)
		for i, v := range e.Values {
			if got := math.Ldexp(v, -2*power); math.Abs(got-want.Values[i]) > 1e-9*want.Values[0] {
				t.Errorf("2^%d: value %d = %g, want %g", power, i, got, want.Values[i])
			}
		}
	}
}

// TestFilterStaysWithinSteepSpectra: eigenvalues over 20 powers of ten.
func TestFilterStaysWithinSteepSpectra(t *testing.T) {
	a := must.Get(Solver{}.Scatter(falling(400, 150, 0.5)))(t)
	for _, single := range []bool{false, true} {
		e := must.Get(Solver{Float32: single}.TopEigen(a, 20))(t)
		full := must.Get(fullEigen(a, 20))(t)
		for i, v := range e.Values {
			if math.Abs(v-full.Values[i]) > 1e-10*full.Values[0] {
				t.Errorf("value %d = %g, want %g", i, v, full.Values[i])
			}
		}
		checkPairs(t, a, e, 1e-9)
	}
}
