package preprocess

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/imagebomb"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
)

// TestCostOfDamagedImages: with the budget that people have, no damaged file of any format
// takes more than package mutation allows.
func TestCostOfDamagedImages(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes a thousand damaged pictures")
	}
	spec := Spec{Resize: ResizeShorter, Size: 12, Crop: 9, Interpolation: Bicubic, Std: [3]float64{1, 1, 1},
		Orientation: true}
	byFormat := map[string][][]byte{
		".tif": {imagebomb.Shared(10, 300, 100), imagebomb.Tiles(300, 300, 16), imagebomb.Bands(50, 9, 20, 9),
			imagebomb.PackBits(100, 100, 1), chromaTIFF(33, 33)},
		".jpg":  {imagebomb.Progressive(200, 200, 3, 20), imagebomb.Baseline(300, 300), imagebomb.Restarts(100, 100)},
		".png":  {imagebomb.PNG(300, 300, imagebomb.RGBA, 16, true)},
		".heic": {imagebomb.Grid{Columns: 8, Rows: 8, Items: 2, Extents: 2, DataBytes: 99}.HEIC()},
	}
	for _, seeds := range []map[string][]byte{seedImages(t), heifImages(t)} {
		for name, file := range seeds {
			format := strings.ToLower(filepath.Ext(name))
			byFormat[format] = append(byFormat[format], file)
		}
	}
	cost := func(name string, files [][]byte, b *Budget, damaged damage) {
		t.Run(name, func(t *testing.T) {
			p := must.Get(New(spec, b))(t)
			mutation.Each(t, 200, func(i int, rng *rand.Rand) error {
				file := damaged(rng, files[rng.IntN(len(files))], files)
				resealPNG(file)
				dst := make([]float32, 3*spec.Crop*spec.Crop)
				if err := p.Tensor(t.Context(), dst, file); err != nil && !hasKind(err) {
					return fmt.Errorf("unknown kind of error: %w", err)
				}
				return nil
			})
		})
	}
	for format, files := range byFormat {
		slices.SortFunc(files, bytes.Compare) // the maps have no order
		damaged := damage(mutation.Bytes)
		if format == ".avif" || format == ".heic" {
			damaged = mostlyInside
		}
		cost(format, files, libraries(t), damaged)
		cost(format+" by Go", files, DefaultBudget().Portable(), damaged)
	}
}

// damage returns a file with some of its bytes changed, or taken from one of the others.
type damage func(rng *rand.Rand, file []byte, others [][]byte) []byte

// mostlyInside damages what is behind the first boxes three times out of four.
func mostlyInside(rng *rand.Rand, file []byte, others [][]byte) []byte {
	if rng.IntN(4) == 0 {
		return mutation.Bytes(rng, file, others)
	}
	return mutation.Inside(rng, file, others)
}
