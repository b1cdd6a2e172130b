package onnx_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
	"github.com/seed-90d10d51/pipeline/onnx"
)

// TestMutatedNetworks: a damaged network is refused or read, at a bounded cost.
func TestMutatedNetworks(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(models, "*.onnx"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no models", err)
	}
	var files [][]byte
	for _, path := range paths {
		b := must.Get(os.ReadFile(path))(t)
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

// TestProductsOfTwoLengths: many outputs at the end of a long chain of operators, or of one with a long
// name, cost no more than a damaged network.
func TestProductsOfTwoLengths(t *testing.T) {
	const outputs, operators, longBytes = 60_000, 20_000, 300_000
	output := func(name string) []byte { return bytesField(12, bytesField(1, []byte(name))) }
	node := func(in, out string) []byte {
		return bytesField(1, bytesField(1, []byte(in)), bytesField(2, []byte(out)), bytesField(4, []byte("Identity")))
	}
	var chain, many, named []byte
	for i := range operators {
		chain = append(chain, node(fmt.Sprint(i), fmt.Sprint(i+1))...)
	}
	for i := range outputs {
		many = append(many, output(fmt.Sprint(operators-i%2))...)
		named = append(named, output(fmt.Sprint(i%operators+1))...)
	}
	for name, graph := range map[string][][]byte{
		"a long chain":            {chain, many},
		"many parts of a chain":   {chain, named},
		"a long name of a tensor": {node(strings.Repeat("x", longBytes), "y"), many, output("y"), output("y")},
	} {
		t.Run(name, func(t *testing.T) {
			file := bytesField(7, graph...)
			mutation.Bounded(t, func() {
				m := must.Get(onnx.Parse(file))(t)
				if _, err := m.Penultimate(); err == nil || len(err.Error()) > 3000 {
					t.Errorf("%.300v", err)
				}
			})
		})
	}
}
