package linalg

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// leastValues is the size of b below which gonum is as fast for some 16 rows: for one
	// row it always is, for hundreds nearly never. The choice must not depend on the
	// number of rows, so that the result of a row does not depend on the other rows.
	leastValues = 1 << 13
	// rowUnit is the unit of rows in a product: the number of rows is padded with
	// zeros to a multiple of it, so that no row is computed by an edge kernel.
	rowUnit = 16
	// rowBlock × panel is the block that one goroutine multiplies at a time.
	rowBlock = 8 * rowUnit
	panelMin = 256
)

// On returns a Backend that computes large products with k and small ones with
// gonum; only the size of b decides. Its Raw is raw.
func On(k Kernel, raw Raw) Backend { return OnFrom(k, raw, leastValues) }

// OnFrom is On with another bound: products whose b has fewer than least values go
// to gonum.
func OnFrom(k Kernel, raw Raw, least int) Backend {
	return backend{kernel: k, raw: raw, least: least}
}

type backend struct {
	kernel Kernel
	raw    Raw
	least  int
}

func (m backend) small(b shape) bool { return b.rows*b.cols < m.least }

// Mul32 implements Kernel.
func (m backend) Mul32(dst, a, b blas32.General) error {
	if err := fits(shape32(dst), shape32(a), shape32(b)); err != nil {
		return err
	}
	switch {
	case m.small(shape32(b)):
		return Gonum{}.Mul32(dst, a, b)
	case dst.Rows == 0:
		return nil
	}
	return m.whole32(dst, a, b)
}

// whole32 multiplies whole units of rows in place and pads the last few rows.
func (m backend) whole32(dst, a, b blas32.General) error {
	whole := a.Rows / rowUnit * rowUnit
	if whole > 0 {
		if err := m.kernel.Mul32(dense.View32(dst, 0, 0, whole, dst.Cols), dense.View32(a, 0, 0, whole, a.Cols),
			b); err != nil {
			return err
		}
	}
	rest := a.Rows - whole
	if rest == 0 {
		return nil
	}
	filled, product := dense.New32(rowUnit, a.Cols), dense.New32(rowUnit, dst.Cols)
	dense.Copy32(filled, dense.View32(a, whole, 0, rest, a.Cols))
	if err := m.kernel.Mul32(product, filled, b); err != nil {
		return err
	}
	dense.Copy32(dense.View32(dst, whole, 0, rest, dst.Cols), dense.View32(product, 0, 0, rest, dst.Cols))
	return nil
}

// Mul64 implements Kernel.
func (m backend) Mul64(dst, a, b blas64.General) error {
	if err := fits(shape64(dst), shape64(a), shape64(b)); err != nil {
		return err
	}
	switch {
	case m.small(shape64(b)):
		return Gonum{}.Mul64(dst, a, b)
	case dst.Rows == 0:
		return nil
	}
	return m.whole64(dst, a, b)
}

// Raw implements Backend.
func (m backend) Raw() Raw { return m.raw }

func (m backend) whole64(dst, a, b blas64.General) error {
	whole := a.Rows / rowUnit * rowUnit
	if whole > 0 {
		if err := m.kernel.Mul64(dense.View(dst, 0, 0, whole, dst.Cols), dense.View(a, 0, 0, whole, a.Cols),
			b); err != nil {
			return err
		}
	}
	rest := a.Rows - whole
	if rest == 0 {
		return nil
	}
	filled, product := dense.New(rowUnit, a.Cols), dense.New(rowUnit, dst.Cols)
	dense.Copy(filled, dense.View(a, whole, 0, rest, a.Cols))
	if err := m.kernel.Mul64(product, filled, b); err != nil {
		return err
	}
	dense.Copy(dense.View(dst, whole, 0, rest, dst.Cols), dense.View(product, 0, 0, rest, dst.Cols))
	return nil
}

// MulTrans implements Backend.
func (m backend) MulTrans(dst, a, b blas32.General) error {
	if err := fits(shape32(dst), shape32(a), shape32(b)); err != nil {
		return err
	}
	if m.small(shape32(b)) {
		return Gonum{}.MulTrans(dst, a, b)
	}
	return m.eachBlock(dst.Rows, b.Rows, b.Cols, func(i, j, n, k int) error {
		return m.whole32(dense.View32(dst, i, j, n, k), dense.View32(a, i, 0, n, a.Cols),
			dense.View32(b, j, 0, k, b.Cols))
	})
}

// MulTrans64 implements Backend.
func (m backend) MulTrans64(dst, a, b blas64.General) error {
	if err := fits(shape64(dst), shape64(a), shape64(b)); err != nil {
		return err
	}
	if m.small(shape64(b)) {
		return Gonum{}.MulTrans64(dst, a, b)
	}
	return m.eachBlock(dst.Rows, b.Rows, b.Cols, func(i, j, n, k int) error {
		return m.whole64(dense.View(dst, i, j, n, k), dense.View(a, i, 0, n, a.Cols), dense.View(b, j, 0, k, b.Cols))
	})
}

// eachBlock covers an n×K result with blocks, in parallel. No panel is narrow: the
// last one includes the remainder.
func (m backend) eachBlock(n, K, d int, do func(i, j, n, k int) error) error {
	panel := max(panelMin, (m.least+d-1)/d)
	across, down := max(1, K/panel), (n+rowBlock-1)/rowBlock
	return dense.ParallelErr(across*down, func(t int) error {
		i, j := t%down*rowBlock, t/down*panel
		width := panel
		if t/down == across-1 {
			width = K - j
		}
		return do(i, j, min(rowBlock, n-i), width)
	})
}
