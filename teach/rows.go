package teach

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// rows is a matrix in a temporary file, which close removes; after a kill, the next
// session does. The system keeps it in memory as far as there is room.
type rows struct {
	file *atomicfile.File // never committed
	cols int
}

func newRows(dir string, cols int) (*rows, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	_, _ = atomicfile.RemoveStale(dir) // leftovers of killed sessions are harmless
	f, err := atomicfile.Create(filepath.Join(dir, "teach"))
	if err != nil {
		return nil, err
	}
	return &rows{f, cols}, nil
}

func vector(v []float32) blas32.Vector { return blas32.Vector{N: len(v), Inc: 1, Data: v} }

// bytesOf returns the memory of v, in the order of this machine, the only one that
// reads the file.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// write writes rows from row first on.
func (r *rows) write(first int, v []float32) error {
	if _, err := r.file.WriteAt(bytesOf(v), int64(first)*int64(r.cols)*4); err != nil {
		return fmt.Errorf("temporary file of embeddings: %w", err)
	}
	return nil
}

// read returns rows first to last-1, in buf if it is large enough.
func (r *rows) read(first, last int, buf []float32) (blas32.General, error) {
	size := (last - first) * r.cols
	if cap(buf) < size {
		buf = make([]float32, size)
	}
	buf = buf[:size]
	x := blas32.General{Rows: last - first, Cols: r.cols, Stride: r.cols, Data: buf}
	if _, err := r.file.ReadAt(bytesOf(buf), int64(first)*int64(r.cols)*4); err != nil && size > 0 {
		return x, fmt.Errorf("temporary file of embeddings: %w", err)
	}
	return x, nil
}

// close accepts nil.
func (r *rows) close() {
	if r != nil {
		r.file.Abort()
	}
}
