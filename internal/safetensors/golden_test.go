package safetensors

import (
	"bytes"
	"flag"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var update = flag.Bool("update", false, "rewrite testdata/go.safetensors")

// These bytes were checked by testdata/golden.py with the reference
// implementation.
func TestGoldenBytes(t *testing.T) {
	tensors, metadata := sample()
	raw, _ := encode(t, tensors, metadata)
	if *update {
		must.Do(t, os.WriteFile("testdata/go.safetensors", raw, 0o644))
	}
	want, err := os.ReadFile("testdata/go.safetensors")
	if err != nil || !bytes.Equal(raw, want) {
		t.Fatalf("the bytes changed (%v): run golden.py again", err)
	}
}

func TestReadsReferenceFile(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/python.safetensors"))(t)
	f := must.Get(open(raw))(t)
	want := map[string]Tensor{
		"single":  {Shape: []int{2, 3}, F32: []float32{0, 0.25, 0.5, 0.75, 1, 1.25}},
		"double":  {Shape: []int{3}, F64: []float64{1e300, -1e-300, math.Pi}},
		"integer": {Shape: []int{2, 1}, I64: []int64{math.MinInt64, math.MaxInt64}},
		"byte":    {Shape: []int{8}, U8: []byte("pipeline")},
		"empty":   {Shape: []int{0, 4}, F32: []float32{}},
	}
	for name, w := range want {
		if got, err := f.Read(name); err != nil || !reflect.DeepEqual(got, w) {
			t.Errorf("%s: got %v (%v), want %v", name, got, err, w)
		}
	}
	if len(f.Tensors()) != len(want) || f.Metadata()["made"] != `by "Python" ü` {
		t.Errorf("tensors %v, metadata %v", f.Tensors(), f.Metadata())
	}
}
