package openblas

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
)

// A BLAS is a loaded library. It is safe for concurrent use and stays loaded
// for the life of the process.
type BLAS struct {
	library Library
	version string
	// dgemm multiplies by b or its transpose.
	dgemm func(transB int32, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int)
}

// Constants of the C interface (cblas.h).
const (
	rowMajor = 101
	noTrans  = 111
	trans    = 112
)

// threadsPosix is the result of openblas_get_parallel in a build with POSIX
// threads; 0 means sequential, 2 OpenMP.
const threadsPosix = 1

// Open loads the library, limits it to one thread per call, and tests it.
func Open(lib Library) (*BLAS, error) {
	lib, err := libraryOf(search().Inspect(lib.Path)) // the file may have changed since
	b := &BLAS{library: lib}
	if err == nil {
		err = b.load()
	}
	if err == nil {
		err = b.tryOut()
	}
	if err != nil {
		return nil, fmt.Errorf("OpenBLAS library %s: %w", lib.Path, err)
	}
	return b, nil
}

// Library returns the loaded library.
func (b *BLAS) Library() Library { return b.library }

// Version returns the release, such as "0.3.21", or "" if unknown.
func (b *BLAS) Version() string { return b.version }

// Mul64 writes a·bᵀ into dst on the calling goroutine: a is n×d, b is K×d,
// dst is n×K, none of them empty. Shapes must fit.
func (b *BLAS) Mul64(dst, x, y blas64.General) error { return b.double(trans, dst, x, y) }

// MulPlain64 writes a·b into dst: a is n×k, b is k×m.
func (b *BLAS) MulPlain64(dst, x, y blas64.General) error { return b.double(noTrans, dst, x, y) }

func (b *BLAS) double(transB int32, dst, x, y blas64.General) error {
	if err := small(dst.Rows, dst.Cols, x.Cols, dst.Stride, x.Stride, y.Stride); err != nil {
		return err
	}
	b.dgemm(transB, dst.Rows, dst.Cols, x.Cols, x.Data, x.Stride, y.Data, y.Stride, dst.Data, dst.Stride)
	return nil
}

// small refuses empty sizes and sizes that do not fit into 32-bit integers.
func small(sizes ...int) error {
	for _, n := range sizes {
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("product: dimension %d is outside 1 … 2147483647", n)
		}
	}
	return nil
}

// tryOut checks that the function computes what its name says.
func (b *BLAS) tryOut() error {
	x, y, out := []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, make([]float64, 4)
	b.dgemm(trans, 2, 2, 2, x, 2, y, 2, out, 2)
	if !slices.Equal(out, []float64{17, 23, 39, 53}) {
		return errors.New("computes wrong products")
	}
	return nil
}

// versionOf extracts "0.3.21" from "OpenBLAS 0.3.21 DYNAMIC_ARCH …".
func versionOf(config string) string {
	fields := strings.Fields(config)
	if len(fields) > 1 {
		return fields[1]
	}
	return ""
}
