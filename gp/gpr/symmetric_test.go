package gpr

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TestProductsWithTheTriangle: products equal those with the whole symmetric
// matrix, and right-hand sides in one pass equal each alone, on one core or
// several, to the last bit.
func TestProductsWithTheTriangle(t *testing.T) {
	const k = chunk + 3 // two passes
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, gemvRows - 1, gemvRows, gemvRows + 1, side - 1, side, side + 1, side + gemvRows,
		3*side + 7, 700} {
		a, b := newTriangle(n), dense.New(k, n)
		for i := range n {
			for j := range a.row(i) {
				a.row(i)[j] = rng.NormFloat64()
			}
		}
		for i := range b.Data {
			b.Data[i] = rng.NormFloat64()
		}
		got := dense.New(k, n)
		a.multiply(context.Background(), got, b)
		cores := runtime.GOMAXPROCS(1)
		for r := range b.Rows {
			alone := dense.New(1, n)
			a.multiply(context.Background(), alone, rowsOf(b, r, 1))
			sameBits(t, dense.Row(got, r), alone.Data)
			for i, v := range dense.Row(got, r) {
				var want float64
				for j, x := range dense.Row(b, r) {
					want += at(a, i, j) * x
				}
				if math.Abs(v-want) > 1e-12*float64(n) {
					t.Errorf("n = %d: value %d of row %d is %.17g, want %.17g", n, i, r, v, want)
				}
			}
		}
		runtime.GOMAXPROCS(cores)
	}
}
