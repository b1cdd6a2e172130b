package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A matrix is a blas32.General or a blas64.General.
type matrix[F float32 | float64] struct {
	Rows, Cols int
	Stride     int
	Data       []F
}

func matrix32(m blas32.General) matrix[float32] { return matrix[float32](m) }

func matrix64(m blas64.General) matrix[float64] {
	return matrix[float64]{m.Rows, m.Cols, m.Stride, m.Data}
}

func general32(m matrix[float32]) blas32.General { return blas32.General(m) }

func general64(m matrix[float64]) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data}
}

func zeros[F float32 | float64](rows, cols int) matrix[F] {
	return matrix[F]{Rows: rows, Cols: cols, Stride: cols, Data: make([]F, rows*cols)}
}

// view returns the rows×cols part whose upper left corner is (i, j).
func (m matrix[F]) view(i, j, rows, cols int) matrix[F] {
	v := matrix[F]{Rows: rows, Cols: cols, Stride: m.Stride}
	if rows > 0 && cols > 0 {
		v.Data = m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]
	}
	return v
}

func (m matrix[F]) copyFrom(src matrix[F]) {
	for i := range src.Rows {
		copy(m.Data[i*m.Stride:], src.Data[i*src.Stride:i*src.Stride+src.Cols])
	}
}

// valid returns an error unless the data match the size.
func (m matrix[F]) valid() error {
	return dense.Check(m.Rows, m.Cols, m.Stride, len(m.Data))
}

// fits returns an error unless the shapes match dst = a·bᵀ.
func fits[F float32 | float64](dst, a, b matrix[F]) error {
	for _, m := range []matrix[F]{dst, a, b} {
		if err := m.valid(); err != nil {
			return fmt.Errorf("product: %w", err)
		}
	}
	if a.Cols != b.Cols || dst.Rows != a.Rows || dst.Cols != b.Rows || a.Cols == 0 {
		return fmt.Errorf("product: %d×%d from %d×%d and %d×%d transposed", dst.Rows, dst.Cols, a.Rows, a.Cols, b.Rows,
			b.Cols)
	}
	return nil
}
