// Package shared finds the folder of real photos, backbones and reference
// numbers that some tests use. The project works without it.
package shared

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// variable names the environment variable that points to the folder. If it is
// set, as in CI, a missing folder fails the test instead of skipping it.
const variable = "PIPELINE_SHARED"

// Path returns the path of an entry of the folder. If the entry is missing it
// skips the test, or fails it if variable is set.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir, promised := os.LookupEnv(variable)
	if !promised {
		dir = filepath.Join(testenv.ModuleRoot(tb), "..", "shared")
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err == nil {
		return path
	} else if promised {
		tb.Fatalf("%s is set, but: %v", variable, err)
	}
	tb.Skipf("needs ../shared (%s)", filepath.Join(elem...))
	return ""
}
