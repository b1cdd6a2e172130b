package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
)

// New32 returns a matrix of zeros.
func New32(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, rows*cols)}
}

// Valid32 returns an error unless the rows, columns, stride and data of m are
// consistent.
func Valid32(m blas32.General) error { return Check(m.Rows, m.Cols, m.Stride, len(m.Data)) }

// Row32 returns row i of m, or nil for a matrix without columns.
func Row32(m blas32.General, i int) []float32 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// Finite32 reports whether no value is NaN or infinite.
func Finite32(row []float32) bool {
	for _, v := range row {
		if v-v != 0 { // NaN for NaN and for ±Inf
			return false
		}
	}
	return true
}

// Narrowed returns v rounded to float32.
func Narrowed(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// Borrowed returns a buffer of n arbitrary values from a pool of *[]T, to which the
// caller returns it.
func Borrowed[T float32 | float64](pool *sync.Pool, n int) *[]T {
	buffer, _ := pool.Get().(*[]T)
	if buffer == nil || cap(*buffer) < n {
		buffer = new(make([]T, n))
	}
	*buffer = (*buffer)[:n]
	return buffer
}

// Rows32 returns rows first to last−1 of m.
func Rows32(m blas32.General, first, last int) blas32.General {
	return View32(m, first, 0, last-first, m.Cols)
}

// View32 returns the rows×cols part of m whose upper left corner is (i, j).
func View32(m blas32.General, i, j, rows, cols int) blas32.General {
	v := blas32.General{Rows: rows, Cols: cols, Stride: m.Stride}
	if rows > 0 && cols > 0 {
		v.Data = m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]
	}
	return v
}

// Copy32 copies src into the upper left corner of dst.
func Copy32(dst, src blas32.General) {
	for i := range src.Rows {
		copy(Row32(dst, i), Row32(src, i))
	}
}

// Gather32 copies the given rows of m into a new matrix.
func Gather32(m blas32.General, rows []int) blas32.General {
	out := New32(len(rows), m.Cols)
	for i, r := range rows {
		copy(Row32(out, i), Row32(m, r))
	}
	return out
}

// Hash32 returns the SHA-256 of the little-endian bytes of a row.
func Hash32(row []float32) [sha256.Size]byte {
	raw, _ := binary.Append(nil, binary.LittleEndian, row) // a slice of numbers always encodes
	return sha256.Sum256(raw)
}
