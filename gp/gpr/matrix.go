package gpr

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

func rowsOf(m blas64.General, first, rows int) blas64.General {
	return dense.View(m, first, 0, rows, m.Cols)
}

// picked returns the given columns of m.
func picked(m blas64.General, columns []int) blas64.General {
	out := dense.New(m.Rows, len(columns))
	for i := range m.Rows {
		row := dense.Row(m, i)
		for j, c := range columns {
			out.Data[i*out.Stride+j] = row[c]
		}
	}
	return out
}

// transposed returns the transpose of m, which has no gaps between rows. A single
// row is not copied.
func transposed(m blas64.General) blas64.General {
	if m.Rows == 1 {
		return blas64.General{Rows: m.Cols, Cols: 1, Stride: 1, Data: m.Data}
	}
	return dense.Transposed(m)
}

// withColumns returns m with more columns, all zero, reusing its memory if that
// suffices.
func withColumns(m blas64.General, more int) blas64.General {
	cols := m.Cols + more
	if cols <= m.Stride {
		m.Cols = cols
		for i := range m.Rows {
			clear(dense.Row(m, i)[cols-more:])
		}
		return m
	}
	stride := cols + cols/8
	out := blas64.General{Rows: m.Rows, Cols: cols, Stride: stride, Data: make([]float64, m.Rows*stride)}
	for i := range m.Rows {
		copy(dense.Row(out, i), dense.Row(m, i))
	}
	return out
}

// withoutColumns removes columns, in place.
func withoutColumns(m blas64.General, gone []int) blas64.General {
	for i := range m.Rows {
		row := dense.Row(m, i)
		clear(row[len(without(row[:0], row, gone)):])
	}
	m.Cols -= len(gone)
	return m
}

// withRows returns m with the rows of more appended.
func withRows(m, more blas64.General) blas64.General {
	for i := range more.Rows {
		m.Data = append(m.Data[:(m.Rows+i)*m.Stride], dense.Row(more, i)...)
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

// subtractProduct computes c −= a·bᵀ for at most 64×192 values of c. The inner
// dimension is split so that b stays in the cache. Every value is the same sum in
// the same order, whatever the other rows are.
func subtractProduct(c, a, b blas64.General) {
	const depth = 512
	if c.Rows == 0 || c.Cols == 0 {
		return // gonum refuses matrices without rows
	}
	for k := 0; k < a.Cols; k += depth {
		m := min(depth, a.Cols-k)
		blas64.Gemm(blas.NoTrans, blas.Trans, -1, dense.View(a, 0, k, a.Rows, m), dense.View(b, 0, k, b.Rows, m), 1, c)
	}
}

// addInner computes c += scale·a·b for at most 64×192 values of c.
func addInner(c blas64.General, scale float64, a, b blas64.General) {
	if c.Rows > 0 && c.Cols > 0 && a.Cols > 0 {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, scale, a, b, 1, c)
	}
}
