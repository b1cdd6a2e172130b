package dense

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// New returns a matrix of zeros.
func New(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float64, rows*cols)}
}

// Identity returns the n×n identity.
func Identity(n int) blas64.General {
	m := New(n, n)
	for i := range n {
		m.Data[i*m.Stride+i] = 1
	}
	return m
}

// Valid returns an error unless the rows, columns, stride and data of m are
// consistent.
func Valid(m blas64.General) error { return Check(m.Rows, m.Cols, m.Stride, len(m.Data)) }

// Row returns row i of m, or nil for a matrix without columns.
func Row(m blas64.General, i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// Rows returns rows first to last−1 of m.
func Rows(m blas64.General, first, last int) blas64.General {
	return View(m, first, 0, last-first, m.Cols)
}

// View returns the rows×cols part of m whose upper left corner is (i, j).
func View(m blas64.General, i, j, rows, cols int) blas64.General {
	v := blas64.General{Rows: rows, Cols: cols, Stride: m.Stride}
	if rows > 0 && cols > 0 {
		v.Data = m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]
	}
	return v
}

// Copy copies src into the upper left corner of dst.
func Copy(dst, src blas64.General) {
	for i := range src.Rows {
		copy(Row(dst, i), Row(src, i))
	}
}

// Clone returns a copy of m.
func Clone(m blas64.General) blas64.General {
	if m.Stride == m.Cols {
		m.Data = slices.Clone(m.Data)
		return m
	}
	out := New(m.Rows, m.Cols)
	Copy(out, m)
	return out
}

// Gather copies the given rows of m into a new matrix.
func Gather(m blas64.General, rows []int) blas64.General {
	out := New(len(rows), m.Cols)
	for i, r := range rows {
		copy(Row(out, i), Row(m, r))
	}
	return out
}

// Add adds factor·src to the upper left corner of dst.
func Add(dst blas64.General, factor float64, src blas64.General) {
	for i := range src.Rows {
		to := Row(dst, i)
		for j, v := range Row(src, i) {
			to[j] += factor * v
		}
	}
}

// NotFinite returns the first row of m with a NaN or an infinity, or −1 if there
// is none.
func NotFinite(m blas64.General) int {
	for i := range m.Rows {
		for _, v := range Row(m, i) {
			if v-v != 0 { // NaN for NaN and for ±Inf
				return i
			}
		}
	}
	return -1
}

// Transposed returns xᵀ (d×n for x n×d). It copies square by square, so that both
// sides stay in the cache.
func Transposed(x blas64.General) blas64.General {
	const square = 32
	t := New(x.Cols, x.Rows)
	across := (x.Cols + square - 1) / square
	Parallel(across, func(p int) {
		last := min((p+1)*square, x.Cols)
		for first := 0; first < x.Rows; first += square {
			for j := p * square; j < last; j++ {
				for i := first; i < min(first+square, x.Rows); i++ {
					t.Data[j*t.Stride+i] = x.Data[i*x.Stride+j]
				}
			}
		}
	})
	return t
}

// Diagonal returns a copy of the diagonal of a square matrix.
func Diagonal(m blas64.General) []float64 {
	d := make([]float64, m.Rows)
	for i := range d {
		d[i] = Row(m, i)[i]
	}
	return d
}

// Trace returns the sum of the diagonal of a square matrix.
func Trace(m blas64.General) (sum float64) {
	for _, v := range Diagonal(m) {
		sum += v
	}
	return sum
}

// MeanRow returns the mean of the rows of m.
func MeanRow(m blas64.General) []float64 {
	mean := make([]float64, m.Cols)
	for i := range m.Rows {
		for j, v := range Row(m, i) {
			mean[j] += v / float64(m.Rows)
		}
	}
	return mean
}

// SubtractRow subtracts row from every row of m.
func SubtractRow(m blas64.General, row []float64) {
	for i := range m.Rows {
		blas64.Axpy(-1, Vector(row), Vector(Row(m, i)))
	}
}

// Widen writes src into dst.
func Widen(dst []float64, src []float32) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// Range returns first … last−1.
func Range(first, last int) []int {
	r := make([]int, last-first)
	for i := range r {
		r[i] = first + i
	}
	return r
}

// SquaredDistance returns ‖a − b‖².
func SquaredDistance(a, b []float64) (sum float64) {
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return sum
}

// SumSquares returns ‖v‖², in one sum from first to last.
func SumSquares(v []float64) (sum float64) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// Vector returns v as BLAS takes it, sharing memory.
func Vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Data: v, Inc: 1} }

// Dot returns aᵀb of two vectors of the same length.
func Dot(a, b []float64) float64 { return blas64.Dot(Vector(a), Vector(b)) }
