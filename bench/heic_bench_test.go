//go:build unix

package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkHEICPython compares HEIC to tensor with pillow-heif, in processor time of
// one thread.
func BenchmarkHEICPython(b *testing.B) {
	b.Run("4000x3000", func(b *testing.B) { againstPillow(b, []string{heic(b, 4000, 3000)}, 1) })
}

// heic writes the drawn picture as HEIC.
func heic(b *testing.B, width, height int) string {
	b.Helper()
	python := os.Getenv(pythonVariable)
	if python == "" {
		b.Skipf("set %s to a Python with Pillow and pillow-heif", pythonVariable)
	}
	out := filepath.Join(b.TempDir(), "drawn.heic")
	if said, err := exec.Command(python, "heic.py", drawn(b, width, height), out).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, strings.TrimSpace(string(said)))
	}
	return out
}
