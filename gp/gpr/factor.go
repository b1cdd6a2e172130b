package gpr

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// chunk is the number of right-hand sides that one goroutine solves for.
	chunk = 32
	// strip is the number of columns that one goroutine updates.
	strip = 192
	// fewSolved is the number of right-hand sides up to which solving for each,
	// in parts of gemvColumns columns, is faster than solving for all in tiles.
	// A part of fewer than leastShared numbers is done on one core.
	fewSolved   = 3
	gemvColumns = 512
	leastShared = 512
	// singular is the share of a diagonal value below which a pivot counts as
	// rounding error.
	singular = 1e-10
)

// factor turns a symmetric matrix into its Cholesky factor L, tile column by
// tile column, or returns a *NotPSDError. O(n³/3).
func factor(ctx context.Context, t *triangle) error {
	for p := range t.panels {
		first, rows := p*side, t.rowsIn(p)
		diagonal := make([]float64, rows)
		for i := range diagonal {
			diagonal[i] = t.row(first + i)[first+i]
		}
		done := t.view(p, 0, first)
		each(ctx, len(t.panels)-p, func(task int) {
			q := p + task
			subtractProduct(t.view(q, first, rows), t.view(q, 0, first), done)
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		if !t.factorTile(p, diagonal) {
			return &NotPSDError{Order: t.n}
		}
		each(ctx, len(t.panels)-p-1, func(task int) {
			t.forwardTile(t.view(p+1+task, first, rows), p)
		})
	}
	return nil
}

// factorTile factors the diagonal tile of panel p; diagonal is the diagonal of
// the matrix itself.
func (t *triangle) factorTile(p int, diagonal []float64) bool {
	first := p * side
	for i, before := range diagonal {
		row := t.wide(first + i)[first:]
		for j := range i {
			other := t.row(first + j)[first:]
			row[j] = (row[j] - dense.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := row[i] - dense.Dot(row[:i], row[:i])
		if !(pivot > singular*before) {
			return false
		}
		row[i] = math.Sqrt(pivot)
		clear(row[i+1:])
	}
	return true
}

// forwardTile solves z·Lᵀ = b in place for the rows of b, with the diagonal
// tile of panel p as L.
func (t *triangle) forwardTile(b blas64.General, p int) {
	first := p * side
	for r := range b.Rows {
		z := dense.Row(b, r)
		for i := range z {
			l := t.row(first + i)[first:]
			z[i] = (z[i] - dense.Dot(l[:i], z[:i])) / l[i]
		}
	}
}

// backwardTile solves v·L = z in place in the same way.
func (t *triangle) backwardTile(z blas64.General, p int) {
	first := p * side
	for r := range z.Rows {
		v := dense.Row(z, r)
		for i := len(v) - 1; i >= 0; i-- {
			l := t.row(first + i)[first:]
			v[i] /= l[i]
			for j, w := range l[:i] {
				v[j] -= v[i] * w
			}
		}
	}
}

// forward replaces every row b of m (k×n) by L⁻¹b: O(kn²). Like each, it leaves
// the rest undone once ctx is cancelled.
func (t *triangle) forward(ctx context.Context, m blas64.General) {
	if t.n == 1 { // every update by one example; too small for tasks
		for i := range m.Rows {
			m.Data[i*m.Stride] /= t.row(0)[0]
		}
		return
	}
	eachChunk(ctx, m, func(b blas64.General, inner parallel) {
		for p := range t.panels {
			first, rows := p*side, t.rowsIn(p)
			inner(ctx, (rows+chunk/2-1)/(chunk/2), func(task int) {
				from := task * chunk / 2
				count := min(chunk/2, rows-from)
				subtractProduct(dense.View(b, 0, first+from, b.Rows, count), dense.View(b, 0, 0, b.Rows, first),
					rowsOf(t.view(p, 0, first), from, count))
			})
			t.forwardTile(dense.View(b, 0, first, b.Rows, rows), p)
		}
	})
}

// backward replaces every row z of m (k×n) by L⁻ᵀz in the same way: O(kn²).
func (t *triangle) backward(ctx context.Context, m blas64.General) {
	eachChunk(ctx, m, func(z blas64.General, inner parallel) {
		for p := len(t.panels) - 1; p >= 0; p-- {
			first, rows := p*side, t.rowsIn(p)
			v := dense.View(z, 0, first, z.Rows, rows)
			t.backwardTile(v, p)
			inner(ctx, (first+strip-1)/strip, func(task int) {
				from := task * strip
				count := min(strip, first-from)
				addInner(dense.View(z, 0, from, z.Rows, count), -1, v, t.view(p, from, count))
			})
		}
	})
}

// forwardFew is a version of forward that is faster for a few rows. Its values
// differ from those of forward, and between rows, in the last bits.
func (t *triangle) forwardFew(ctx context.Context, m blas64.General) {
	if m.Rows > fewSolved {
		t.forward(ctx, m)
		return
	}
	for r := range m.Rows {
		z := dense.Row(m, r)
		for p := range t.panels {
			first, rows := p*side, t.rowsIn(p)
			done := dense.Vector(z[:first])
			inTasks(ctx, rows, gemvRows, first, func(from, count int) {
				part := rowsOf(t.view(p, 0, first), from, count)
				blas64.Gemv(blas.NoTrans, -1, part, done, 1, dense.Vector(z[first+from:][:count]))
			})
			t.forwardTile(dense.View(m, r, first, 1, rows), p)
		}
	}
}

// backwardFew is the same for backward.
func (t *triangle) backwardFew(ctx context.Context, m blas64.General) {
	if m.Rows > fewSolved {
		t.backward(ctx, m)
		return
	}
	for r := range m.Rows {
		z := dense.Row(m, r)
		for p := len(t.panels) - 1; p >= 0; p-- {
			first, rows := p*side, t.rowsIn(p)
			t.backwardTile(dense.View(m, r, first, 1, rows), p)
			v := dense.Vector(z[first:][:rows])
			inTasks(ctx, first, gemvColumns, first, func(from, count int) {
				blas64.Gemv(blas.Trans, -1, t.view(p, from, count), v, 1, dense.Vector(z[from:][:count]))
			})
		}
	}
}

// inTasks splits 0 … n into parts of the given size and runs them on all cores,
// or on one if there is little work in each.
func inTasks(ctx context.Context, n, size, work int, do func(from, count int)) {
	run := parallel(each)
	if work < leastShared {
		run = inOrder
	}
	if work > 0 {
		run(ctx, (n+size-1)/size, func(task int) { do(task*size, min(size, n-task*size)) })
	}
}

// A parallel calls do(0) to do(tasks−1), and skips the rest once ctx is cancelled:
// its callers look at ctx before they use what the tasks have computed.
type parallel func(ctx context.Context, tasks int, do func(task int))

// each is the parallel on all cores.
func each(ctx context.Context, tasks int, do func(task int)) {
	dense.Parallel(tasks, func(task int) {
		if ctx.Err() == nil {
			do(task)
		}
	})
}

// inOrder is the parallel on one core.
func inOrder(ctx context.Context, tasks int, do func(task int)) {
	for i := 0; i < tasks && ctx.Err() == nil; i++ {
		do(i)
	}
}

// eachChunk splits the rows of m into chunks: a few rows are solved for on all
// cores together, many with one core per chunk. Values are the same either way.
func eachChunk(ctx context.Context, m blas64.General, do func(part blas64.General, inner parallel)) {
	if m.Rows == 0 || m.Cols == 0 {
		return
	}
	if m.Rows <= chunk {
		do(m, each)
		return
	}
	each(ctx, (m.Rows+chunk-1)/chunk, func(task int) {
		do(rowsOf(m, task*chunk, min(chunk, m.Rows-task*chunk)), inOrder)
	})
}

// invert turns L into (L·Lᵀ)⁻¹ in place: O(2n³/3).
func invert(ctx context.Context, l *triangle) error {
	for p := range l.panels {
		l.invertPanel(ctx, p)
	}
	// (LLᵀ)⁻¹ = MᵀM for M = L⁻¹; panel p of it needs the panels of M from p on.
	for p := range l.panels {
		first, rows := p*side, l.rowsIn(p)
		out := dense.New(rows, first+rows)
		each(ctx, p+1, func(j int) {
			part := dense.View(out, 0, j*side, rows, min(side, out.Cols-j*side))
			for q := p; q < len(l.panels); q++ {
				blas64.Gemm(blas.Trans, blas.NoTrans, 1, l.view(q, first, rows), l.view(q, j*side, part.Cols), 1, part)
			}
		})
		for i := range rows {
			copy(l.row(first+i), dense.Row(out, i))
		}
	}
	return ctx.Err()
}

// invertPanel turns panel p of L into that of L⁻¹; the panels before it are
// already inverted.
func (t *triangle) invertPanel(ctx context.Context, p int) {
	first, rows := p*side, t.rowsIn(p)
	old := dense.Clone(t.view(p, 0, first))
	inverse := dense.Identity(rows)
	t.forwardTile(inverse, p) // its rows are the columns of the tile's inverse
	each(ctx, p, func(j int) {
		sum := dense.New(rows, side)
		for q := j; q < p; q++ {
			addInner(sum, 1, dense.View(old, 0, q*side, rows, side), t.view(q, j*side, side))
		}
		blas64.Gemm(blas.Trans, blas.NoTrans, -1, inverse, sum, 0, t.view(p, j*side, side))
	})
	for i := range rows {
		for j := range i + 1 {
			t.row(first + i)[first+j] = inverse.Data[j*rows+i]
		}
	}
}

// logDet returns log|L·Lᵀ| of a factor.
func (t *triangle) logDet() float64 {
	var sum float64
	for i := range t.n {
		sum += 2 * math.Log(t.row(i)[i])
	}
	return sum
}

// axpy computes y += scale·x.
func axpy(scale float64, x, y []float64) { blas64.Axpy(scale, dense.Vector(x), dense.Vector(y)) }
