package classstats

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// Hashes are those of the contents of images, as files store them.
type Hashes []Hash

// Tensor returns the bytes (n×len(Hash)).
func (hashes Hashes) Tensor() safetensors.Tensor {
	content := make([]byte, 0, len(hashes)*len(Hash{}))
	for _, h := range hashes {
		content = append(content, h[:]...)
	}
	return safetensors.Tensor{Shape: []int{len(hashes), len(Hash{})}, U8: content}
}

// ReadHashes reads a tensor that Tensor returned.
func ReadHashes(f *safetensors.File, name string) (Hashes, error) {
	t, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	if len(t.Shape) != 2 || t.Shape[1] != len(Hash{}) || t.U8 == nil {
		return nil, fmt.Errorf("content hashes of shape %v", t.Shape)
	}
	hashes := make(Hashes, t.Shape[0])
	for i := range hashes {
		copy(hashes[i][:], t.U8[i*len(Hash{}):])
	}
	return hashes, nil
}
