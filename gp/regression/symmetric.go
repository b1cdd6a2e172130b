package regression

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// gemvRows of a panel are multiplied at a time, both ways where it stands for
// a symmetric matrix.
const gemvRows = 16

// multiplyOne writes the product of the symmetric matrix with x into dst in
// one pass over the triangle. Parts of about equal size have sums of their
// own, added in order, so that cores make no difference.
func (t *triangle) multiplyOne(dst, x []float64) {
	parts := t.parts(16)
	sums := make([][]float64, len(parts)-1)
	linalg.Parallel(len(sums), func(task int) {
		sum := make([]float64, min(t.n, parts[task+1]*side))
		for p := parts[task]; p < parts[task+1]; p++ {
			t.addPanel(sum, x, p)
		}
		sums[task] = sum
	})
	for _, sum := range sums {
		axpy(1, sum, dst[:len(sum)])
	}
}

// addPanel adds what panel p, and its mirror image above the diagonal, take x
// to; a few rows at a time, which stay in the cache for the second product.
func (t *triangle) addPanel(sum, x []float64, p int) {
	first, rows := p*side, t.rowsIn(p)
	for i := 0; first > 0 && i < rows; i += gemvRows {
		m := rowsOf(t.view(p, 0, first), i, min(gemvRows, rows-i))
		across := blas64.Vector{N: first, Data: x, Inc: 1}
		blas64.Gemv(blas.NoTrans, 1, m, across, 1, blas64.Vector{N: m.Rows, Data: sum[first+i:], Inc: 1})
		across.Data = sum
		blas64.Gemv(blas.Trans, 1, m, blas64.Vector{N: m.Rows, Data: x[first+i:], Inc: 1}, 1, across)
	}
	x, sum = x[first:], sum[first:]
	for i := range rows {
		row := t.row(first + i)[first:]
		sum[i] += dot(row, x[:i+1])
		axpy(x[i], row[:i], sum[:i])
	}
}

// parts cuts the panels into at most k ranges of about equal area.
func (t *triangle) parts(k int) []int {
	cuts, count := []int{0}, len(t.panels)
	for p, area := 0, 0; p < count; p++ {
		if area += p + 1; area*k >= count*(count+1)/2*len(cuts) || p == count-1 {
			cuts = append(cuts, p+1)
		}
	}
	return cuts
}

// multiplyMany is multiplyOne for the rows of b, by tiles of the result.
func (t *triangle) multiplyMany(dst, b blas64.General) {
	chunks := (b.Rows + chunk - 1) / chunk
	linalg.Parallel(chunks*len(t.panels), func(task int) {
		p, i := task/chunks, task%chunks*chunk
		rows, first := min(chunk, b.Rows-i), p*side
		out := sub(dst, i, first, rows, t.rowsIn(p))
		subtractProduct(out, sub(b, i, 0, rows, first), t.view(p, 0, first))
		for q := p + 1; q < len(t.panels); q++ {
			addInner(out, -1, sub(b, i, q*side, rows, t.rowsIn(q)), t.view(q, first, out.Cols))
		}
		addInner(out, -1, sub(b, i, first, rows, out.Cols), t.diagonalTile(p))
		for r := range rows {
			for j, v := range rowOf(out, r) {
				out.Data[r*out.Stride+j] = -v
			}
		}
	})
}
