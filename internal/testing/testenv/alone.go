package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// Alone reports whether a test has a process for itself; otherwise it runs it again in one, and the
// caller returns. A test that changes its whole process needs that, as one with a FullDisk does: `go
// test` has a log of its own, which then cannot be written, either.
func Alone(t *testing.T) bool {
	t.Helper()
	const key = "PIPELINE_TEST_ALONE"
	if os.Getenv(key) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), key+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
