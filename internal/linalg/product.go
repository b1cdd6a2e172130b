package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Tiles of the result. Gonum multiplies up to three 64×64 blocks in one
// goroutine with one dot product per element, which is what makes results
// independent of the tiling; larger tiles would make it start its own.
const (
	tileRows = 64
	tileCols = 192
)

// A Multiplier is a backend for the one large product that scoring needs.
type Multiplier interface {
	// MulTrans writes a·bᵀ into dst: a is n×d, b is K×d, dst is n×K.
	MulTrans(dst, a, b blas32.General) error
}

// Gonum multiplies with gonum's pure Go and assembly kernels.
type Gonum struct{}

// Default returns the backend in use.
func Default() Multiplier { return Gonum{} }

// MulTrans implements Multiplier.
func (Gonum) MulTrans(dst, a, b blas32.General) error {
	if err := fits(shape32(dst), shape32(a), shape32(b)); err != nil {
		return err
	}
	eachTile(dst.Rows, dst.Cols, func(i, j, n, m int) {
		blas32.Gemm(blas.NoTrans, blas.Trans, 1,
			view32(a, i, 0, n, a.Cols), view32(b, j, 0, m, b.Cols), 0, view32(dst, i, j, n, m))
	})
	return nil
}

// MulTrans64 writes a·bᵀ into dst in float64: a is n×d, b is K×d, dst is n×K.
func MulTrans64(dst, a, b blas64.General) error {
	if err := fits(shape64(dst), shape64(a), shape64(b)); err != nil {
		return err
	}
	eachTile(dst.Rows, dst.Cols, func(i, j, n, m int) {
		mulTile64(dst, a, b, i, j, n, m)
	})
	return nil
}

// Gram returns x·xᵀ (n×n), computing one triangle only.
func Gram(x blas64.General) (blas64.General, error) {
	if err := valid(shape64(x)); err != nil {
		return blas64.General{}, fmt.Errorf("gram: %w", err)
	}
	g := New64(x.Rows, x.Rows)
	eachTile(x.Rows, x.Rows, func(i, j, n, m int) {
		if j+m > i {
			mulTile64(g, x, x, i, j, n, m)
		}
	})
	for i := range g.Rows {
		for j := range i {
			g.Data[i*g.Stride+j] = g.Data[j*g.Stride+i]
		}
	}
	return g, nil
}

// Scatter returns xᵀ·x (d×d), the sum of the outer products of the rows.
func Scatter(x blas64.General) (blas64.General, error) {
	if err := valid(shape64(x)); err != nil {
		return blas64.General{}, fmt.Errorf("scatter: %w", err)
	}
	t := New64(x.Cols, x.Rows)
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			t.Data[j*t.Stride+i] = v
		}
	}
	return Gram(t)
}

// New64 returns a zero matrix.
func New64(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float64, rows*cols)}
}

// New32 returns a zero matrix.
func New32(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, rows*cols)}
}

func mulTile64(dst, a, b blas64.General, i, j, n, m int) {
	blas64.Gemm(blas.NoTrans, blas.Trans, 1,
		view64(a, i, 0, n, a.Cols), view64(b, j, 0, m, b.Cols), 0, view64(dst, i, j, n, m))
}

// eachTile covers a rows×cols result with tiles, in parallel.
func eachTile(rows, cols int, do func(i, j, n, m int)) {
	across := (cols + tileCols - 1) / tileCols
	down := (rows + tileRows - 1) / tileRows
	Parallel(across*down, func(t int) {
		i, j := t%down*tileRows, t/down*tileCols
		do(i, j, min(tileRows, rows-i), min(tileCols, cols-j))
	})
}

func view32(m blas32.General, i, j, rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: m.Stride, Data: m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]}
}

func view64(m blas64.General, i, j, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: m.Stride, Data: m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]}
}
