package linalg

import (
	"cmp"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Tiles of the result. Gonum multiplies up to three 64×64 blocks in one goroutine
// with one dot product per element, which makes results independent of the tiling;
// with larger tiles it would start goroutines.
const (
	tileRows = 64
	tileCols = 192
)

// A Kernel writes products a·bᵀ into dst, on the calling goroutine. a is n×d, b is
// K×d, dst is n×K. Each element must depend only on its two rows, with the same
// order of summation for any n.
type Kernel interface {
	Mul32(dst, a, b blas32.General) error
	Mul64(dst, a, b blas64.General) error
}

// A Raw computes products whose shapes are fixed by the work itself, such as those
// of a fit: an element may depend on the position of its rows in their matrices.
// Matrices are not empty and have matching shapes.
type Raw interface {
	// Mul32 and Mul64 write a·bᵀ into dst, on the calling goroutine.
	Mul32(dst, a, b blas32.General) error
	Mul64(dst, a, b blas64.General) error
	// MulPlain64 writes a·b: a is n×k, b is k×m, dst is n×m.
	MulPlain64(dst, a, b blas64.General) error
}

// A Backend is a Kernel that can also use all cores. Gonum is one; On makes one
// from any Kernel. It is safe for concurrent use.
type Backend interface {
	Kernel
	// MulTrans is Mul32 on all cores.
	MulTrans(dst, a, b blas32.General) error
	// MulTrans64 is Mul64 on all cores.
	MulTrans64(dst, a, b blas64.General) error
	// Raw returns the fastest kernels for large products within a fit.
	Raw() Raw
}

// Gonum multiplies with gonum's pure Go and assembly kernels.
type Gonum struct{}

// Default returns the backend used if none is chosen.
func Default() Backend { return Gonum{} }

// OrDefault returns m, or Default if m is nil.
func OrDefault(m Backend) Backend { return cmp.Or(m, Default()) }

// MulTrans implements Backend.
func (Gonum) MulTrans(dst, a, b blas32.General) error {
	return mul32(dst, a, b, dense.Parallel)
}

// MulTrans64 implements Backend.
func (Gonum) MulTrans64(dst, a, b blas64.General) error {
	return mul64(dst, a, b, dense.Parallel)
}

// Mul32 implements Kernel.
func (Gonum) Mul32(dst, a, b blas32.General) error { return mul32(dst, a, b, inTurn) }

// Mul64 implements Kernel.
func (Gonum) Mul64(dst, a, b blas64.General) error { return mul64(dst, a, b, inTurn) }

// MulPlain64 implements Raw.
func (Gonum) MulPlain64(dst, a, b blas64.General) error {
	if err := fits(shape64(dst), shape64(a), shape64(b).transposed()); err != nil {
		return err
	}
	eachTile(dst.Rows, dst.Cols, inTurn, func(i, j, n, m int) {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
			dense.View(a, i, 0, n, a.Cols), dense.View(b, 0, j, b.Rows, m), 0, dense.View(dst, i, j, n, m))
	})
	return nil
}

// Raw implements Backend.
func (g Gonum) Raw() Raw { return g }

// MulTrans64 writes a·bᵀ into dst in float64 with gonum: a is n×d, b is K×d,
// dst is n×K.
func MulTrans64(dst, a, b blas64.General) error { return Gonum{}.MulTrans64(dst, a, b) }

// A schedule calls do(0) … do(tasks−1), each once.
type schedule func(tasks int, do func(task int))

// inTurn is the schedule of one goroutine.
func inTurn(tasks int, do func(task int)) {
	for i := range tasks {
		do(i)
	}
}

func mul32(dst, a, b blas32.General, run schedule) error {
	if err := fits(shape32(dst), shape32(a), shape32(b)); err != nil {
		return err
	}
	eachTile(dst.Rows, dst.Cols, run, func(i, j, n, m int) {
		blas32.Gemm(blas.NoTrans, blas.Trans, 1,
			dense.View32(a, i, 0, n, a.Cols), dense.View32(b, j, 0, m, b.Cols), 0, dense.View32(dst, i, j, n, m))
	})
	return nil
}

func mul64(dst, a, b blas64.General, run schedule) error {
	if err := fits(shape64(dst), shape64(a), shape64(b)); err != nil {
		return err
	}
	eachTile(dst.Rows, dst.Cols, run, func(i, j, n, m int) {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1,
			dense.View(a, i, 0, n, a.Cols), dense.View(b, j, 0, m, b.Cols), 0, dense.View(dst, i, j, n, m))
	})
	return nil
}

// eachTile covers a rows×cols result with tiles.
func eachTile(rows, cols int, run schedule, do func(i, j, n, m int)) {
	across := (cols + tileCols - 1) / tileCols
	down := (rows + tileRows - 1) / tileRows
	run(across*down, func(t int) {
		i, j := t%down*tileRows, t/down*tileCols
		do(i, j, min(tileRows, rows-i), min(tileCols, cols-j))
	})
}
