package gpr

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// TestSquaredLengthsFollowTheInputs through a thousand changes, some of them
// refused, to the last bit.
func TestSquaredLengthsFollowTheInputs(t *testing.T) {
	const d = 5
	for _, method := range []Method{Cholesky, Direct, Iterative} {
		rng := rand.New(rand.NewPCG(5, 6))
		x, y := drawnExamples(2000, d, 2)
		r, err := New(RBF{Lengthscale: 1, Outputscale: 1}, Config{Method: method, Noise: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for step := range 1000 {
			k := 1 + rng.IntN(3)
			at = (at + k) % (x.Rows - 3)
			switch op := rng.IntN(8); {
			case op < 3 && r.Len() < 90 || r.Len() < 10:
				err = r.Add(context.Background(), rowsOf(x, at, k), rowsOf(y, at, k))
			case op < 5:
				err = r.Remove(context.Background(), rng.Perm(r.Len())[:k])
			case op == 5:
				err = r.SetInputs(context.Background(), rng.Perm(r.Len())[:k], rowsOf(x, at, k))
			case op == 6:
				refusedChange(t, r, x, y)
			default:
				other := r.Clone()
				if err = other.Add(context.Background(), rowsOf(x, at, k), rowsOf(y, at, k)); err == nil &&
					step%2 == 0 {
					r = other
				}
			}
			if err != nil {
				t.Fatalf("%s, step %d: %v", method, step, err)
			}
			sameBits(t, r.x.squares, squares(r.x.General))
		}
		restored := must.Get(Restore(r.kernel, r.cfg, dense.Clone(r.x.General), dense.Transposed(r.t), r.Snapshot()))(t)
		sameBits(t, restored.x.squares, r.x.squares)
	}
}

// refusedChange adds one example twice, and moves one to another, with σ² too
// small to separate them.
func refusedChange(t *testing.T, r *Regression, x, y blas64.General) {
	t.Helper()
	noise := r.cfg.Noise
	defer func() { r.cfg.Noise = noise }()
	r.cfg.Noise = 1e-300
	twice := stacked(dense.Clone(rowsOf(x, 7, 1)), rowsOf(x, 7, 1))
	if r.Add(context.Background(), twice, rowsOf(y, 0, 2)) == nil {
		t.Fatal("the same example twice was added")
	}
	if r.Len() > 30 && r.SetInputs(context.Background(), []int{1, 4}, twice) == nil {
		t.Fatal("two examples were made the same")
	}
}

// TestKernelRowsAreThoseOfBlock, with stored squared lengths or without, whatever
// the other rows, to the last bit.
func TestKernelRowsAreThoseOfBlock(t *testing.T) {
	const n, noise = 1100, 0.03 // two tasks for a row
	x, y := drawnExamples(n, 24, 1)
	for _, kernel := range []Kernel{RBF{Lengthscale: 2, Outputscale: 1.5}, Linear{Outputscale: 1.5, Bias: 0.5}} {
		r := must.Get(New(kernel, Config{Method: Cholesky, Noise: noise}))(t)
		must.Do(t, r.Add(context.Background(), x, y))
		examples := []int{0, 3, 1023, 1024, n - 1}
		got := must.Get(r.kernelRows(context.Background(), r.x, examples))(t)
		for i, e := range examples {
			want := dense.New(1, n)
			must.Do(t, kernel.block(linalg.Backend{}, want, measured(rowsOf(x, e, 1)), measured(x)))
			want.Data[e] += noise
			sameBits(t, dense.Row(got, i), want.Data)
		}
	}
}

// TestGramIsThatOfPlainLengths on every backend: stored lengths change no bit.
func TestGramIsThatOfPlainLengths(t *testing.T) {
	const n = 3*side + 5
	x, _ := drawnExamples(n, 24, 1)
	k := RBF{Lengthscale: 2, Outputscale: 1}
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		got := drawnGram(t, m, n, 0)
		for p := range got.panels {
			first, rows := p*side, got.rowsIn(p)
			want := dense.New(rows, first+rows)
			must.Do(t, k.block(m, want, measured(rowsOf(x, first, rows)),
				measured(rowsOf(x, 0, first+rows))))
			for i := range rows {
				sameBits(t, got.row(first+i), dense.Row(want, i)[:first+i+1])
			}
		}
	})
}

func sameBits(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i, v := range got {
		if math.Float64bits(v) != math.Float64bits(want[i]) {
			t.Fatalf("value %d is %.17g, want %.17g", i, v, want[i])
		}
	}
}
