package teach

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/rowfile"
)

// rows are embeddings, or features, in a temporary file.
type rows struct{ *rowfile.Matrix[float32] }

func newRows(dir string, cols int) (rows, error) {
	m, err := rowfile.New[float32](dir, "teach", "embeddings", cols)
	return rows{m}, err
}

func vector(v []float32) blas32.Vector { return blas32.Vector{N: len(v), Inc: 1, Data: v} }

// read returns rows first to last-1, in buf if it is large enough.
func (r rows) read(first, last int, buf []float32) (blas32.General, error) {
	data, err := r.Read(first, last, buf)
	return blas32.General{Rows: last - first, Cols: r.Cols(), Stride: r.Cols(), Data: data}, err
}
