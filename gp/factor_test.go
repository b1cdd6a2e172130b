package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TestRoot: RᵀR = k, its pivot columns are triangular, and the rank is that of k,
// also of duplicates and of zeros.
func TestRoot(t *testing.T) {
	full := newWorld(t, rbf(), inputs(7, 2, 1), inputs(1, 2, 2)).k
	twice := inputs(7, 2, 1)
	copy(dense.Row(twice, 4), dense.Row(twice, 1))
	copy(dense.Row(twice, 6), dense.Row(twice, 1))
	for name, c := range map[string]struct {
		k    blas64.General
		rank int
	}{"full": {full, 7}, "duplicates": {newWorld(t, rbf(), twice, inputs(1, 2, 2)).k, 5},
		"zero": {dense.New(3, 3), 0}} {
		r, pivots := Root(c.k)
		if r.Rows != c.rank || len(pivots) != c.rank {
			t.Errorf("%s: rank %d with %d pivots, want %d", name, r.Rows, len(pivots), c.rank)
			continue
		}
		for i := range c.k.Rows {
			for j := range c.k.Rows {
				var sum float64
				for p := range r.Rows {
					sum += dense.Row(r, p)[i] * dense.Row(r, p)[j]
				}
				if math.Abs(sum-dense.Row(c.k, i)[j]) > 1e-12 {
					t.Errorf("%s: (%d, %d) is %g, want %g", name, i, j, sum, dense.Row(c.k, i)[j])
				}
			}
		}
		for i, p := range pivots {
			for j := i + 1; j < r.Rows; j++ {
				if math.Abs(dense.Row(r, j)[p]) > 1e-7 {
					t.Errorf("%s: row %d of pivot column %d is %g", name, j, i, dense.Row(r, j)[p])
				}
			}
		}
	}
}
