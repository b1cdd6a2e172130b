// Package orttest opens ONNX Runtime for tests.
package orttest

import (
	"os"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort"
)

// Open returns the machine's runtime. Without one the test is skipped, except
// in CI, where it fails: there the library must be present.
func Open(tb testing.TB) *ort.Runtime {
	tb.Helper()
	lib, attempts, err := ort.Locate("")
	if err != nil {
		for _, a := range attempts {
			tb.Logf("%s (%s): %v", a.Path, a.Source, a.Err)
		}
		if os.Getenv("CI") == "true" {
			tb.Fatal("needs ONNX Runtime: run make setup: ", err)
		}
		tb.Skip("needs ONNX Runtime: run make setup")
	}
	rt, err := ort.Open(lib)
	if err != nil {
		tb.Fatal(err)
	}
	return rt
}
