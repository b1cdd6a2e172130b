//go:build (linux || darwin) && (amd64 || arm64)

package openblas

import (
	"fmt"
	"os"

	"github.com/ebitengine/purego"
)

// threadsVar is read by the library while it loads.
const threadsVar = "OPENBLAS_NUM_THREADS"

// load resolves the functions. The library is never unloaded.
func (b *BLAS) load() error {
	handle, err := dlopen(b.library.Path)
	if err != nil {
		return fmt.Errorf("cannot be loaded: %w", err)
	}
	lookup := func(target any, function string) {
		if err != nil {
			return
		}
		var address uintptr
		if address, err = purego.Dlsym(handle, b.library.naming.of(function)); err == nil {
			purego.RegisterFunc(target, address)
		}
	}
	var parallel func() int32
	var config func() string
	var threads func(int32)
	lookup(&parallel, "openblas_get_parallel")
	lookup(&config, "openblas_get_config")
	lookup(&threads, setThreads)
	if b.library.naming.wide() {
		lookupGemm[int64](b, lookup)
	} else {
		lookupGemm[int32](b, lookup)
	}
	if err != nil {
		return err
	}
	if p := parallel(); p != threadsPosix {
		return fmt.Errorf("built without POSIX threads (%d); %s", p, remedy())
	}
	threads(1)
	b.version = versionOf(config())
	return nil
}

// dlopen loads the library and keeps it from starting threads.
func dlopen(path string) (uintptr, error) {
	if before, ok := os.LookupEnv(threadsVar); ok {
		defer os.Setenv(threadsVar, before)
	} else {
		defer os.Unsetenv(threadsVar)
	}
	if err := os.Setenv(threadsVar, "1"); err != nil {
		return 0, err
	}
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// lookupGemm resolves cblas_dgemm with 32- or 64-bit integers.
func lookupGemm[I int32 | int64](b *BLAS, lookup func(any, string)) {
	var f func(order, transA, transB int32, m, n, k I, alpha float64, a *float64, lda I, b *float64, ldb I,
		beta float64, c *float64, ldc I)
	lookup(&f, "cblas_dgemm")
	b.dgemm = func(transB int32, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
		f(rowMajor, noTrans, transB, I(m), I(n), I(k), 1, &a[0], I(lda), &b[0], I(ldb), 0, &c[0], I(ldc))
	}
}
