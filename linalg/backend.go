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

// A Kernel computes products on the calling goroutine. Matrices are not empty and have
// matching shapes. An element may depend on the position of its rows in their matrices.
// An error is of a library that fails, or of a context (Until).
type Kernel interface {
	// Mul32 and Mul64 write a·bᵀ into dst: a is n×d, b is K×d, dst is n×K.
	Mul32(dst, a, b blas32.General) error
	Mul64(dst, a, b blas64.General) error
	// MulPlain64 writes a·b: a is n×k, b is k×m, dst is n×m.
	MulPlain64(dst, a, b blas64.General) error
}

// A Backend multiplies. The zero value uses gonum, On returns one that uses a library for large
// products. Each element of its products depends only on its two rows, with the same order of
// summation for any number of rows. It is safe for concurrent use.
type Backend struct {
	scores, fits Kernel // nil for gonum
	least        int
}

// On returns a Backend that computes large products with scores, and small ones with gonum;
// only the size of b decides. An element of what scores computes may not depend on the position
// of its rows. Raw is fits.
func On(scores, fits Kernel) Backend { return OnFrom(scores, fits, leastValues) }

// OnFrom is On with another bound: products whose b has fewer than least values go
// to gonum.
func OnFrom(scores, fits Kernel, least int) Backend { return Backend{scores, fits, least} }

// Raw returns the fastest kernel for large products within a fit, whose shapes are fixed by the
// work itself.
func (m Backend) Raw() Kernel {
	if m.fits == nil {
		return Gonum{}
	}
	return m.fits
}

// IsGonum reports whether gonum computes all products.
func (m Backend) IsGonum() bool { return m.scores == nil }

// Mul32 writes a·bᵀ into dst on the calling goroutine: a is n×d, b is K×d, dst is n×K.
func (m Backend) Mul32(dst, a, b blas32.General) error {
	return multiply(m, kernel32, matrix32(dst), matrix32(a), matrix32(b), false)
}

// Mul64 is Mul32 in float64.
func (m Backend) Mul64(dst, a, b blas64.General) error {
	return multiply(m, kernel64, matrix64(dst), matrix64(a), matrix64(b), false)
}

// MulTrans is Mul32 on all cores.
func (m Backend) MulTrans(dst, a, b blas32.General) error {
	return multiply(m, kernel32, matrix32(dst), matrix32(a), matrix32(b), true)
}

// MulTrans64 is Mul64 on all cores.
func (m Backend) MulTrans64(dst, a, b blas64.General) error {
	return multiply(m, kernel64, matrix64(dst), matrix64(a), matrix64(b), true)
}

// A product is the one of a Kernel that has the type of the matrices.
type product[F float32 | float64] func(k Kernel, dst, a, b matrix[F]) error

func kernel32(k Kernel, dst, a, b matrix[float32]) error {
	return k.Mul32(general32(dst), general32(a), general32(b))
}

func kernel64(k Kernel, dst, a, b matrix[float64]) error {
	return k.Mul64(general64(dst), general64(a), general64(b))
}

// multiply writes a·bᵀ into dst, on all cores or on one.
func multiply[F float32 | float64](m Backend, by product[F], dst, a, b matrix[F], parallel bool) error {
	if err := fits(dst, a, b); err != nil {
		return err
	}
	schedule := inTurn
	if parallel {
		schedule = dense.Parallel
	}
	switch {
	case m.scores == nil || b.Rows*b.Cols < m.least:
		eachTile(dst, a, b, schedule, func(dst, a, b matrix[F]) { _ = by(Gonum{}, dst, a, b) }) // never fails
		return nil
	case dst.Rows == 0:
		return nil
	case !parallel:
		return whole(m.scores, by, dst, a, b)
	}
	return m.eachBlock(dst.Rows, b.Rows, b.Cols, func(i, j, n, k int) error {
		return whole(m.scores, by, dst.view(i, j, n, k), a.view(i, 0, n, a.Cols), b.view(j, 0, k, b.Cols))
	})
}

// whole multiplies whole units of rows in place and pads the last few rows.
func whole[F float32 | float64](k Kernel, by product[F], dst, a, b matrix[F]) error {
	units := a.Rows / rowUnit * rowUnit
	if units > 0 {
		if err := by(k, dst.view(0, 0, units, dst.Cols), a.view(0, 0, units, a.Cols), b); err != nil {
			return err
		}
	}
	rest := a.Rows - units
	if rest == 0 {
		return nil
	}
	filled, result := zeros[F](rowUnit, a.Cols), zeros[F](rowUnit, dst.Cols)
	filled.copyFrom(a.view(units, 0, rest, a.Cols))
	if err := by(k, result, filled, b); err != nil {
		return err
	}
	dst.view(units, 0, rest, dst.Cols).copyFrom(result.view(0, 0, rest, dst.Cols))
	return nil
}

// eachBlock covers an n×K result with blocks, in parallel. No panel is narrow: the
// last one includes the remainder.
func (m Backend) eachBlock(n, K, d int, do func(i, j, n, k int) error) error {
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
