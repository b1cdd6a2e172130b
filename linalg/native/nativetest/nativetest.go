// Package nativetest runs one test body for every backend of products.
package nativetest

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
)

// Each runs body for those of gonum, ONNX Runtime and OpenBLAS that are installed.
// Products of any size go to the backend.
func Each(t *testing.T, body func(t *testing.T, m linalg.Backend)) {
	for _, name := range []string{native.Gonum, native.ONNXRuntime, native.OpenBLAS} {
		t.Run(name, func(t *testing.T) {
			c := Open(t, name)
			if name == native.Gonum {
				body(t, c.Backend)
				return
			}
			body(t, linalg.OnFrom(c.Kernel, c.Raw(), 0))
		})
	}
}

// Open returns a backend, or skips the test if it is not installed.
func Open(tb testing.TB, name string) native.Choice {
	tb.Helper()
	if name != native.Gonum {
		orttest.Open(tb)
	}
	c, err := native.Choose(native.Config{Backend: name}, func() (*ort.Runtime, error) { return orttest.Open(tb), nil })
	if err != nil {
		tb.Skip(err)
	}
	return c
}
