package gpr

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const (
	// blockPanels is the number of panels factored together with a library,
	// whose products are faster the wider they are.
	blockPanels = 2
	block       = blockPanels * side
	// leastBlocked is the order from which blocking is faster.
	leastBlocked = 4 * block
)

// blocked does what factor, forward and backward do with the products of a
// library. A library takes only matrices without gaps, so tasks copy the parts of
// the triangle that they work on.
type blocked struct {
	*triangle
	raw     linalg.Kernel
	buffers sync.Pool // of *[]float64: no more than tasks running at once
}

// byLibrary reports whether raw is worth its copies for order n.
func byLibrary(raw linalg.Kernel, n int) bool {
	_, gonum := raw.(linalg.Gonum)
	return !gonum && n >= leastBlocked
}

// factorOn is factor with products by raw if that is faster.
func factorOn(ctx context.Context, raw linalg.Kernel, t *triangle) error {
	if !byLibrary(raw, t.n) {
		return factor(ctx, t)
	}
	b := blocked{triangle: t, raw: raw}
	return b.factor(ctx)
}

// solveOn is solve with products by raw if that is faster, for a solver fresh
// from newSolver.
func solveOn(ctx context.Context, raw linalg.Kernel, s solver, z blas64.General) error {
	c, ok := s.(*cholesky)
	if !ok || !byLibrary(raw, s.size()) {
		return s.solve(ctx, z)
	}
	b := blocked{triangle: c.l, raw: raw}
	return b.solve(ctx, z)
}

// cut takes a matrix off the front of a buffer.
func cut(buffer *[]float64, rows, cols int) blas64.General {
	m := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: (*buffer)[:rows*cols]}
	*buffer = (*buffer)[rows*cols:]
	return m
}

// columnOf returns the block of columns that starts at panel p: panels p … last−1
// hold its diagonal block, which begins at row and column at and is w wide.
func (b *blocked) columnOf(p int) (last, at, w int) {
	last = min(p+blockPanels, len(b.panels))
	return last, p * side, min(b.n, last*side) - p*side
}

// factor is the package's factor on block columns, left-looking.
func (b *blocked) factor(ctx context.Context) error {
	for p := 0; p < len(b.panels); p += blockPanels {
		last, at, w := b.columnOf(p)
		diagonal := make([]float64, w)
		for i := range diagonal {
			diagonal[i] = b.row(at + i)[at+i]
		}
		if err := b.subtractDone(ctx, p, at, w); err != nil {
			return err
		}
		inverse, err := b.factorDiagonal(p, last, at, diagonal)
		if err != nil {
			return err
		}
		if err := b.solveBelow(ctx, last, at, w, inverse); err != nil {
			return err
		}
	}
	return nil
}

// subtractDone subtracts the finished columns before at from those of the block.
func (b *blocked) subtractDone(ctx context.Context, p, at, w int) error {
	if at == 0 {
		return nil
	}
	done := b.above(at, w)
	return b.each(ctx, p, func(q int) error {
		rows, width := b.rowsIn(q), min(w, (q+1)*side-at)
		r := dense.Borrowed[float64](&b.buffers, rows*(at+w))
		defer b.buffers.Put(r)
		rest := *r
		own, product := cut(&rest, rows, at), cut(&rest, rows, w)
		dense.Copy(own, b.view(q, 0, at))
		if err := b.raw.Mul64(product, own, done); err != nil {
			return err
		}
		subtractFrom(b.view(q, at, width), product)
		return nil
	})
}

// each calls do for the panels from p on, on all cores, until ctx is cancelled.
func (b *blocked) each(ctx context.Context, p int, do func(q int) error) error {
	return dense.ParallelErr(len(b.panels)-p, func(task int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return do(p + task)
	})
}

// factorDiagonal factors the diagonal block of panels p … last−1 and returns the
// inverse of its factor.
func (b *blocked) factorDiagonal(p, last, at int, diagonal []float64) (blas64.General, error) {
	for q := p; q < last; q++ {
		first, rows := q*side, b.rowsIn(q)
		for s := q; s < last; s++ { // subtract the panels of this block before q
			subtractProduct(b.view(s, first, rows), b.view(s, at, first-at), b.view(q, at, first-at))
		}
		if !b.factorTile(q, diagonal[first-at:first-at+rows]) {
			return blas64.General{}, &NotPSDError{Order: b.n}
		}
		for s := q + 1; s < last; s++ {
			b.forwardTile(b.view(s, first, rows), q)
		}
	}
	return b.inverseAt(at, len(diagonal))
}

// inverseAt returns the inverse of the w×w diagonal block of L at row at.
func (b *blocked) inverseAt(at, w int) (blas64.General, error) {
	inverse := dense.New(w, w)
	for i := range w {
		copy(dense.Row(inverse, i), b.row(at + i)[at:])
	}
	return inverse, linalg.InvertLower(linalg.Gonum{}, inverse)
}

// solveBelow divides the part below the diagonal block by its factor.
func (b *blocked) solveBelow(ctx context.Context, last, at, w int, inverse blas64.General) error {
	return b.each(ctx, last, func(q int) error {
		rows := b.rowsIn(q)
		r := dense.Borrowed[float64](&b.buffers, 2*rows*w)
		defer b.buffers.Put(r)
		rest := *r
		own, product := cut(&rest, rows, w), cut(&rest, rows, w)
		to := b.view(q, at, w)
		dense.Copy(own, to)
		if err := b.raw.Mul64(product, own, inverse); err != nil {
			return err
		}
		dense.Copy(to, product)
		return nil
	})
}

// subtractFrom subtracts a product, which may have more columns, from dst.
func subtractFrom(dst, product blas64.General) {
	for i := range dst.Rows {
		axpy(-1, dense.Row(product, i)[:dst.Cols], dense.Row(dst, i))
	}
}

// solve replaces every row t of z (C×n) by (L·Lᵀ)⁻¹t, after factor.
func (b *blocked) solve(ctx context.Context, z blas64.General) error {
	inverses := make([]blas64.General, (len(b.panels)+blockPanels-1)/blockPanels)
	err := dense.ParallelErr(len(inverses), func(i int) (err error) {
		_, at, w := b.columnOf(i * blockPanels)
		inverses[i], err = b.inverseAt(at, w)
		return err
	})
	if err != nil {
		return err
	}
	for i, inverse := range inverses {
		if err := b.solveBlock(ctx, z, i, inverse, b.forwardBlock); err != nil {
			return err
		}
	}
	for i, inverse := range slices.Backward(inverses) {
		if err := b.solveBlock(ctx, z, i, inverse, b.backwardBlock); err != nil {
			return err
		}
	}
	return nil
}

// solveBlock does one step of a solve, for the columns of block i, with the rows
// of z divided among the cores.
func (b *blocked) solveBlock(ctx context.Context, z blas64.General, i int, inverse blas64.General,
	step func(z blas64.General, at int, above, inverse blas64.General) error) error {
	_, at, w := b.columnOf(i * blockPanels)
	above := b.above(at, w)
	return dense.ParallelErr((z.Rows+chunk-1)/chunk, func(task int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return step(rowsOf(z, task*chunk, min(chunk, z.Rows-task*chunk)), at, above, inverse)
	})
}

// above returns a copy of rows at … at+w−1 up to column at.
func (b *blocked) above(at, w int) blas64.General {
	m := dense.New(w, at)
	for i := range w {
		copy(dense.Row(m, i), b.wide(at + i)[:at])
	}
	return m
}

// forwardBlock solves for the block of columns at at; those before it are solved.
func (b *blocked) forwardBlock(z blas64.General, at int, above, inverse blas64.General) error {
	w := inverse.Rows
	r := dense.Borrowed[float64](&b.buffers, z.Rows*(at+2*w))
	defer b.buffers.Put(r)
	rest := *r
	done, own, product := cut(&rest, z.Rows, at), cut(&rest, z.Rows, w), cut(&rest, z.Rows, w)
	dense.Copy(own, dense.View(z, 0, at, z.Rows, w))
	if at > 0 {
		dense.Copy(done, dense.View(z, 0, 0, z.Rows, at))
		if err := b.raw.Mul64(product, done, above); err != nil {
			return err
		}
		axpy(-1, product.Data, own.Data)
	}
	if err := b.raw.Mul64(product, own, inverse); err != nil {
		return err
	}
	dense.Copy(dense.View(z, 0, at, z.Rows, w), product)
	return nil
}

// backwardBlock solves for the block of columns at at, those after it being
// solved, and subtracts it from those before.
func (b *blocked) backwardBlock(z blas64.General, at int, above, inverse blas64.General) error {
	w := inverse.Rows
	r := dense.Borrowed[float64](&b.buffers, z.Rows*(at+2*w))
	defer b.buffers.Put(r)
	rest := *r
	before, own, solved := cut(&rest, z.Rows, at), cut(&rest, z.Rows, w), cut(&rest, z.Rows, w)
	dense.Copy(own, dense.View(z, 0, at, z.Rows, w))
	if err := b.raw.MulPlain64(solved, own, inverse); err != nil {
		return err
	}
	dense.Copy(dense.View(z, 0, at, z.Rows, w), solved)
	if at == 0 {
		return nil
	}
	if err := b.raw.MulPlain64(before, solved, above); err != nil {
		return err
	}
	subtractFrom(dense.View(z, 0, 0, z.Rows, at), before)
	return nil
}
