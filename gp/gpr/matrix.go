package gpr

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

func newMatrix(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float64, rows*cols)}
}

// sub returns a part of m, sharing its memory.
func sub(m blas64.General, i, j, rows, cols int) blas64.General {
	v := blas64.General{Rows: rows, Cols: cols, Stride: m.Stride}
	if rows > 0 && cols > 0 {
		v.Data = m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]
	}
	return v
}

func rowsOf(m blas64.General, first, rows int) blas64.General { return sub(m, first, 0, rows, m.Cols) }

func rowOf(m blas64.General, i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// copied returns a tight copy.
func copied(m blas64.General) blas64.General {
	out := newMatrix(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(rowOf(out, i), rowOf(m, i))
	}
	return out
}

// picked returns the given columns of m.
func picked(m blas64.General, columns []int) blas64.General {
	out := newMatrix(m.Rows, len(columns))
	for i := range m.Rows {
		row := rowOf(m, i)
		for j, c := range columns {
			out.Data[i*out.Stride+j] = row[c]
		}
	}
	return out
}

// transposed returns the transpose of m, which has no gaps: of a single row
// without a copy.
func transposed(m blas64.General) blas64.General {
	if m.Rows == 1 {
		return blas64.General{Rows: m.Cols, Cols: 1, Stride: 1, Data: m.Data}
	}
	return linalg.Transposed64(m)
}

// withColumns returns m with room for more columns, its memory reused where
// it suffices; the new columns are zero.
func withColumns(m blas64.General, more int) blas64.General {
	cols := m.Cols + more
	if cols <= m.Stride {
		m.Cols = cols
		for i := range m.Rows {
			clear(rowOf(m, i)[cols-more:])
		}
		return m
	}
	stride := cols + cols/8
	out := blas64.General{Rows: m.Rows, Cols: cols, Stride: stride, Data: make([]float64, m.Rows*stride)}
	for i := range m.Rows {
		copy(rowOf(out, i), rowOf(m, i))
	}
	return out
}

// withoutColumns removes columns, in place.
func withoutColumns(m blas64.General, gone []int) blas64.General {
	for i := range m.Rows {
		row := rowOf(m, i)
		clear(row[len(without(row[:0], row, gone)):])
	}
	m.Cols -= len(gone)
	return m
}

// withRows returns m with the rows of more below.
func withRows(m, more blas64.General) blas64.General {
	for i := range more.Rows {
		m.Data = append(m.Data[:(m.Rows+i)*m.Stride], rowOf(more, i)...)
		m.Data = append(m.Data, make([]float64, m.Stride-more.Cols)...)
	}
	m.Rows += more.Rows
	return m
}

// withoutRows removes rows, in place.
func withoutRows(m blas64.General, gone []int) blas64.General {
	to := 0
	for i := range m.Rows {
		if _, found := slices.BinarySearch(gone, i); !found {
			copy(m.Data[to*m.Stride:(to+1)*m.Stride], m.Data[i*m.Stride:(i+1)*m.Stride])
			to++
		}
	}
	m.Rows, m.Data = to, m.Data[:to*m.Stride]
	return m
}

// subtractProduct is c −= a·bᵀ for at most 64×192 values of c. The inner
// dimension is cut so that b stays in the cache. Every value is the same sum
// in the same order, whatever the rows beside it.
func subtractProduct(c, a, b blas64.General) {
	const depth = 512
	if c.Rows == 0 || c.Cols == 0 {
		return // gonum refuses matrices without rows
	}
	for k := 0; k < a.Cols; k += depth {
		m := min(depth, a.Cols-k)
		blas64.Gemm(blas.NoTrans, blas.Trans, -1, sub(a, 0, k, a.Rows, m), sub(b, 0, k, b.Rows, m), 1, c)
	}
}

// addInner is c += scale·a·b for at most 64×192 values of c.
func addInner(c blas64.General, scale float64, a, b blas64.General) {
	if c.Rows > 0 && c.Cols > 0 && a.Cols > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, scale, a, b, 1, c)
	}
}
