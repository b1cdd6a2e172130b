//go:build unix

package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkHEICPython compares HEIC to tensor with pillow-heif, in processor time of
// one thread.
func BenchmarkHEICPython(b *testing.B) {
	b.Run("4000x3000", func(b *testing.B) { againstPillowHEIF(b, heic(b, 4000, 3000)) })
}

func againstPillowHEIF(b *testing.B, file string) {
	p := newPeer(b, []string{file}, "preprocess_peer.py", "--processor")
	pre := newPreprocessor(b, "imagenet")
	side := pre.Spec().Side()
	dst, inMemory := make([]float32, 3*side*side), contents(b, []string{file})[0]
	tensor := func() time.Duration {
		begin := processorTime(b)
		if err := pre.Tensor(b.Context(), dst, inMemory); err != nil {
			b.Fatal(err)
		}
		return processorTime(b) - begin
	}
	tensor()
	against(b, p, 1, tensor)
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
