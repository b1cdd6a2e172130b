package mutation

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// TestSealedFilesPassTheirChecksum: damaged or not, and most of the damaged ones are other files.
func TestSealedFilesPassTheirChecksum(t *testing.T) {
	whole := Sealed{
		Tensors: map[string]safetensors.Tensor{
			"a": {Shape: []int{2, 2}, F64: []float64{1, 2, 3, 4}}, "b": {Shape: []int{3}, I64: []int64{5, 6, 7}},
		},
		Metadata: map[string]string{"text": `{"n":3,"name":"x"}`},
	}
	raw := whole.Seal()
	read, err := Unseal(raw)
	if err != nil || !reflect.DeepEqual(read.Tensors, whole.Tensors) || !bytes.Equal(read.Seal(), raw) {
		t.Fatalf("%v %v", read, err)
	}
	differ := 0
	for i := range 300 {
		b := read.Damaged(rand.New(rand.NewPCG(uint64(i), 0)), "text", [][]byte{[]byte(whole.Metadata["text"])})
		f, err := safetensors.Open(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			_, err = f.VerifyDigest()
		}
		if err != nil {
			t.Errorf("file %d: %v", i, err)
		}
		if !bytes.Equal(b, raw) {
			differ++
		}
	}
	if differ < 200 || !bytes.Equal(read.Seal(), raw) {
		t.Errorf("%d of 300 differ; the whole one is as it was: %t", differ, bytes.Equal(read.Seal(), raw))
	}
}
