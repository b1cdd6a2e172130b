package gpr

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// gemvRows is the number of rows of a panel multiplied at a time, in both
// directions if the triangle represents a symmetric matrix.
const gemvRows = 16

// multiply writes the products of the symmetric matrix with the rows of b (k×n)
// into the rows of dst, in one pass over the triangle per chunk of rows: O(kn²).
// Each result is independent of the other rows. Like each, it leaves the rest
// undone once ctx is cancelled.
func (t *triangle) multiply(ctx context.Context, dst, b blas64.General) {
	for i := 0; i < b.Rows && ctx.Err() == nil; i += chunk {
		rows := min(chunk, b.Rows-i)
		t.multiplyChunk(rowsOf(dst, i, rows), rowsOf(b, i, rows))
	}
}

// multiplyChunk is multiply in one pass over the triangle. Parts of about equal
// size are summed separately and added in order, so that the result does not
// depend on the number of cores.
func (t *triangle) multiplyChunk(dst, b blas64.General) {
	parts := t.parts(16)
	sums := make([]blas64.General, len(parts)-1)
	dense.Parallel(len(sums), func(task int) {
		sum := dense.New(b.Rows, min(t.n, parts[task+1]*side))
		for p := parts[task]; p < parts[task+1]; p++ {
			for i := 0; i < t.rowsIn(p); i += gemvRows {
				t.addRows(sum, b, p, i)
			}
		}
		sums[task] = sum
	})
	for _, sum := range sums {
		for r := range sum.Rows {
			axpy(1, dense.Row(sum, r), dense.Row(dst, r)[:sum.Cols])
		}
	}
}

// addRows adds to sum the products of the rows of b with a few rows of panel p
// from i on and with their mirror image above the diagonal. The rows of the panel
// stay in the cache for all products.
func (t *triangle) addRows(sum, b blas64.General, p, i int) {
	first := p*side + i
	m := rowsOf(t.view(p, 0, first), i, min(gemvRows, t.rowsIn(p)-i))
	for r := range b.Rows {
		x, sum := dense.Row(b, r), dense.Row(sum, r)
		if first > 0 {
			blas64.Gemv(blas.NoTrans, 1, m, dense.Vector(x[:first]), 1, dense.Vector(sum[first:][:m.Rows]))
			blas64.Gemv(blas.Trans, 1, m, dense.Vector(x[first:][:m.Rows]), 1, dense.Vector(sum[:first]))
		}
		t.addCorner(sum[first:], x[first:], first, m.Rows)
	}
}

// addCorner is addRows for the diagonal block of those rows.
func (t *triangle) addCorner(sum, x []float64, first, rows int) {
	for i := range rows {
		row := t.row(first + i)[first:]
		var own float64
		for j, v := range row[:i] {
			own += v * x[j]
			sum[j] += v * x[i]
		}
		sum[i] += own + row[i]*x[i]
	}
}

// parts splits the panels into at most k ranges of about equal area.
func (t *triangle) parts(k int) []int {
	cuts, count := []int{0}, len(t.panels)
	for p, area := 0, 0; p < count; p++ {
		area += p + 1
		if area*k >= count*(count+1)/2*len(cuts) || p == count-1 {
			cuts = append(cuts, p+1)
		}
	}
	return cuts
}
