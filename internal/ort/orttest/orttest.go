// Package orttest opens ONNX Runtime for tests.
package orttest

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// Open returns the machine's runtime. Without one it skips the test, or fails
// it in CI, where the library must be present.
func Open(tb testing.TB) *ort.Runtime {
	tb.Helper()
	lib, attempts, err := ort.Locate("")
	if err != nil {
		for _, a := range attempts {
			tb.Logf("%s (%s): %v", a.Path, a.Source, a.Err)
		}
		testenv.Missing(tb, "needs ONNX Runtime: run make setup: %v", err)
	}
	return must.Get(ort.Open(lib))(tb)
}
