package onnx_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/mutation"
	"github.com/seed-90d10d51/pipeline/internal/onnx"
)

// TestMutatedNetworks: a damaged network is refused or read, at a bounded cost.
func TestMutatedNetworks(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(models, "*.onnx"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no models", err)
	}
	var files [][]byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	mutation.Each(t, 300, func(_ int, rng *rand.Rand) error {
		m, err := onnx.Parse(mutation.Bytes(rng, files[rng.IntN(len(files))], files))
		if err != nil {
			return nil
		}
		tensor, err := m.Penultimate()
		if err == nil {
			_, _, _ = m.WithOutput(tensor)
		}
		for _, in := range m.Inputs {
			m.InputRange(in.Name)
			_, _, _ = m.WithFloatInput(in)
		}
		return nil // a panic fails the test, and so does the cost
	})
}
