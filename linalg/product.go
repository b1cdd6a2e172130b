package linalg

import (
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

// Gonum is the Kernel of gonum's pure Go and assembly kernels. It never fails.
type Gonum struct{}

// Mul32 implements Kernel.
func (Gonum) Mul32(dst, a, b blas32.General) error {
	eachTile(matrix32(dst), matrix32(a), matrix32(b), inTurn, func(dst, a, b matrix[float32]) {
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, general32(a), general32(b), 0, general32(dst))
	})
	return nil
}

// Mul64 implements Kernel.
func (Gonum) Mul64(dst, a, b blas64.General) error {
	mul64(dst, a, b, inTurn)
	return nil
}

// MulPlain64 implements Kernel.
func (Gonum) MulPlain64(dst, a, b blas64.General) error {
	tiles(dst.Rows, dst.Cols, inTurn, func(i, j, n, m int) {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
			dense.View(a, i, 0, n, a.Cols), dense.View(b, 0, j, b.Rows, m), 0, dense.View(dst, i, j, n, m))
	})
	return nil
}

// MulTrans64 writes a·bᵀ into dst in float64 with gonum on all cores: a is n×d, b is K×d,
// dst is n×K. As gonum, it panics if the shapes do not match.
func MulTrans64(dst, a, b blas64.General) {
	if err := fits(matrix64(dst), matrix64(a), matrix64(b)); err != nil {
		panic(err)
	}
	mul64(dst, a, b, dense.Parallel)
}

func mul64(dst, a, b blas64.General, run schedule) {
	eachTile(matrix64(dst), matrix64(a), matrix64(b), run, func(dst, a, b matrix[float64]) {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, general64(a), general64(b), 0, general64(dst))
	})
}

// A schedule calls do(0) … do(tasks−1), each once.
type schedule func(tasks int, do func(task int))

// inTurn is the schedule of one goroutine.
func inTurn(tasks int, do func(task int)) {
	for i := range tasks {
		do(i)
	}
}

// eachTile covers dst with tiles of a·bᵀ.
func eachTile[F float32 | float64](dst, a, b matrix[F], run schedule, do func(dst, a, b matrix[F])) {
	tiles(dst.Rows, dst.Cols, run, func(i, j, n, m int) {
		do(dst.view(i, j, n, m), a.view(i, 0, n, a.Cols), b.view(j, 0, m, b.Cols))
	})
}

// tiles covers a rows×cols result with tiles.
func tiles(rows, cols int, run schedule, do func(i, j, n, m int)) {
	across := (cols + tileCols - 1) / tileCols
	down := (rows + tileRows - 1) / tileRows
	run(across*down, func(t int) {
		i, j := t%down*tileRows, t/down*tileCols
		do(i, j, min(tileRows, rows-i), min(tileCols, cols-j))
	})
}
