// Package rowfile keeps matrices in temporary files, so that the system holds as much of them in
// memory as there is room for.
package rowfile

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

// A Matrix grows by rows. It is gone once it is closed; after a kill, the next New in its folder
// removes it.
type Matrix[T float32 | float64] struct {
	file *atomicfile.File // never committed
	cols int
	what string
}

// New returns an empty matrix. Its file is in dir and is named after a program, a folder's own; what
// says in errors what the rows are, such as "embeddings".
func New[T float32 | float64](dir, name, what string, cols int) (*Matrix[T], error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	_, _ = atomicfile.RemoveStale(dir) // what killed programs left is harmless
	f, err := atomicfile.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return &Matrix[T]{f, cols, what}, nil
}

// Cols returns the number of values of a row.
func (m *Matrix[T]) Cols() int { return m.cols }

// bytesOf returns the memory of v, in the order of this machine, the only one that reads the file.
func bytesOf[T float32 | float64](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(T(0))))
}

func (m *Matrix[T]) offset(row int) int64 {
	return int64(row) * int64(m.cols) * int64(unsafe.Sizeof(T(0)))
}

// Write writes rows from row first on.
func (m *Matrix[T]) Write(first int, v []T) error {
	if _, err := m.file.WriteAt(bytesOf(v), m.offset(first)); err != nil {
		return fmt.Errorf("temporary file of %s: %w", m.what, err)
	}
	return nil
}

// Read returns rows first to last-1, in buf if it is large enough.
func (m *Matrix[T]) Read(first, last int, buf []T) ([]T, error) {
	size := (last - first) * m.cols
	if cap(buf) < size {
		buf = make([]T, size)
	}
	buf = buf[:size]
	_, err := m.file.ReadAt(bytesOf(buf), m.offset(first))
	if err != nil && size > 0 {
		return buf, fmt.Errorf("temporary file of %s: %w", m.what, err)
	}
	return buf, nil
}

// Close removes the file. It accepts nil.
func (m *Matrix[T]) Close() {
	if m != nil {
		m.file.Abort()
	}
}
