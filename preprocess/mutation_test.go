package preprocess

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// TestMutatedImages: whatever happens to a file, preprocessing returns a tensor
// or one of our errors. Panics of decoders count as errors and are logged.
func TestMutatedImages(t *testing.T) {
	spec := Spec{Resize: ResizeShorter, Size: 12, Crop: 9, Interpolation: Bicubic, Std: [3]float64{1, 1, 1},
		Orientation: true}
	var both []*Preprocessor
	for _, b := range []*Budget{fuzzBudget(), fuzzBudget().Portable()} {
		spec.Decoder = machine(b).Name()
		p := must.Get(New(spec, b))(t)
		both = append(both, p)
	}
	var files [][]byte
	for _, seeds := range []map[string][]byte{seedImages(t), bombs(), heifImages(t)} {
		for _, file := range seeds {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, bytes.Compare) // the maps have no order
	var read, panics atomic.Int64
	mutation.Each(t, 4000, func(i int, rng *rand.Rand) error {
		file := mutation.Bytes(rng, files[rng.IntN(len(files))], files)
		if rng.IntN(4) > 0 {
			resealPNG(file)
		}
		dst := make([]float32, 3*spec.Crop*spec.Crop)
		err := both[i%len(both)].Tensor(t.Context(), dst, file)
		switch {
		case err == nil:
			read.Add(1)
			if slices.ContainsFunc(dst, func(v float32) bool { return !(v >= 0 && v <= 1) }) {
				return fmt.Errorf("values outside 0 … 1")
			}
		case !hasKind(err):
			return fmt.Errorf("unknown kind of error: %w", err)
		case strings.Contains(err.Error(), "(decoder: "):
			if panics.Add(1) <= 5 {
				t.Log(err)
			}
		}
		return nil
	})
	t.Logf("%d could be read; decoders panicked %d times", read.Load(), panics.Load())
}

// resealPNG corrects the checksums of chunks, so that what is damaged in them is
// read.
func resealPNG(file []byte) {
	if !bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")) {
		return
	}
	for at := 8; at+12 <= len(file); {
		n := int(binary.BigEndian.Uint32(file[at:]))
		if n > len(file)-at-12 {
			return
		}
		binary.BigEndian.PutUint32(file[at+8+n:], crc32.ChecksumIEEE(file[at+4:at+8+n]))
		at += 12 + n
	}
}
