package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A pair is Cross, a self pair Gram and its gradient.
func TestPairs(t *testing.T) {
	x, z := random(9, 5, 1), random(40, 5, 2)
	each(t, func(t *testing.T, k kernel.Kernel) {
		p := must.Get(kernel.NewPair(linalg.Backend{}, points(t, k, x), points(t, k, z)))(t)
		sameMatrix(t, "values", k.Values(p), cross(t, k, x, z))
	})
}

func TestSelfPairs(t *testing.T) {
	x, g := random(9, 5, 1), random(9, 9, 3)
	for i := range 9 {
		for j := range i {
			g.Data[i*9+j] = g.Data[j*9+i]
		}
	}
	each(t, func(t *testing.T, k kernel.Kernel) {
		p := must.Get(kernel.NewSelfPair(linalg.Backend{}, points(t, k, x)))(t)
		sameMatrix(t, "values", k.Values(p), gram(t, k, x))
		got := must.Get(k.Gradient(p, k.Values(p), g))(t)
		want := must.Get(gradient(t, k, g, points(t, k, x), points(t, k, x)))(t)
		for i, v := range want.Z.Data {
			want.X.Data[i] += v
		}
		sameMatrix(t, "x", got.X, want.X)
		sameNumbers(t, got, want)
		if _, err := k.Gradient(p, k.Values(p), random(9, 8, 1)); err == nil {
			t.Error("a small gradient was accepted")
		}
	})
}

func sameNumbers(t *testing.T, got, want kernel.Gradient) {
	t.Helper()
	for _, pair := range [][2]float64{{got.Lengthscale, want.Lengthscale}, {got.Outputscale, want.Outputscale}} {
		if math.Abs(pair[0]-pair[1]) > 1e-10*max(1, math.Abs(pair[1])) {
			t.Errorf("hyper-parameters %v, want %v", got, want)
		}
	}
}

func sameMatrix(t *testing.T, what string, got, want blas64.General) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s: %d×%d, want %d×%d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i, w := range want.Data {
		if math.Abs(got.Data[i]-w) > 1e-9*max(1, math.Abs(w)) {
			t.Fatalf("%s[%d]: %g, want %g", what, i, got.Data[i], w)
		}
	}
}

func BenchmarkPair(b *testing.B) {
	k := rbf()
	x, z, g := points(b, k, random(128, 512, 1)), points(b, k, random(300, 512, 2)), random(128, 300, 3)
	b.Run(fmt.Sprintf("rbf/n=%d/m=%d/d=%d", 128, 300, 512), func(b *testing.B) {
		for b.Loop() {
			p := must.Get(kernel.NewPair(linalg.Backend{}, x, z))(b)
			must.Get(k.Gradient(p, k.Values(p), g))(b)
		}
	})
}
