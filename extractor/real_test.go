package extractor

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// realModel reads a pretrained backbone from outside the project.
func realModel(tb testing.TB, name string) []byte {
	tb.Helper()
	return must.Get(os.ReadFile(shared.Path(tb, "models", name+".onnx")))(tb)
}

func openReal(tb testing.TB, name string, cfg Config) *Extractor {
	tb.Helper()
	b := realModel(tb, name)
	e := must.Get(Open(orttest.Open(tb), b, name+".onnx", cfg))(tb)
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// hashedPhoto returns photo n of testdata/make_reference.py.
func hashedPhoto(n int) []float32 {
	const size = 3 * 224 * 224
	pixels := make([]float32, size)
	for i := range pixels {
		h := uint32(i+n*size) * 2654435761 >> 8
		pixels[i] = float32(h)/(1<<23) - 1
	}
	return pixels
}

// TestReference compares with Python's onnxruntime (testdata/reference.json,
// made by make_reference.py).
func TestReference(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/reference.json"))(t)
	var reference struct {
		Cases []struct {
			Model, Output, SHA256 string
			Dim                   int
			First                 [][]float32
		}
	}
	must.Do(t, json.Unmarshal(b, &reference))
	for _, c := range reference.Cases {
		cfg := DefaultConfig()
		if c.Output != "features" { // features is detected
			cfg.Output = c.Output
		}
		e := openReal(t, c.Model, cfg)
		if e.Output() != c.Output || e.Dim() != c.Dim || e.Side() != 224 || e.sha256 != c.SHA256 {
			t.Errorf("%s: output %s, d %d, side %d, SHA-256 %s", c.Model, e.Output(), e.Dim(), e.Side(), e.sha256)
		}
		dst := newMatrix(1, c.Dim)
		for n, want := range c.First {
			must.Do(t, e.Extract(dst, hashedPhoto(n)))
			for i, w := range want {
				if math.Abs(float64(dst.Data[i]-w)) > 1e-4 {
					t.Errorf("%s %s, photo %d, value %d: %v, want %v", c.Model, c.Output, n, i, dst.Data[i], w)
				}
			}
		}
	}
}

// TestNeighboursDoNotMatter: a photo's embedding is the same to the last bit at
// every position in a batch and with any neighbours.
func TestNeighboursDoNotMatter(t *testing.T) {
	for _, name := range []string{"vit_tiny_patch16_224", "mobilenetv2_features"} {
		cfg := DefaultConfig()
		cfg.Batch = 4
		e := openReal(t, name, cfg)
		probe := hashedPhoto(0)
		alone := newMatrix(1, e.Dim())
		must.Do(t, e.Extract(alone, probe))
		rng := rand.New(rand.NewPCG(1, 2))
		for position := range cfg.Batch {
			if got := amongOthers(t, e, probe, position, rng); !slices.Equal(got, alone.Data) {
				t.Errorf("%s: position %d differs from alone", name, position)
			}
		}
	}
}

// TestSizesOfRealModels: real models give the same bits in runs of any size.
func TestSizesOfRealModels(t *testing.T) {
	for _, name := range []string{"vit_tiny_patch16_224", "mobilenetv2_features"} {
		e := openReal(t, name, DefaultConfig())
		pixels := slices.Concat(hashedPhoto(0), hashedPhoto(1), hashedPhoto(2), hashedPhoto(3))
		for _, rows := range []int{2, most} {
			must.Do(t, e.compare(rows, 224, newMatrix(most, e.Dim()), pixels))
		}
		if got := len(e.sizes.trials); got != 3 {
			t.Errorf("%s: %d sizes give the same bits, want 3", name, got)
		}
	}
}

// amongOthers embeds probe at that position between random photos.
func amongOthers(t *testing.T, e *Extractor, probe []float32, position int, rng *rand.Rand) []float32 {
	t.Helper()
	var pixels []float32
	for i := range e.Batch() {
		if i == position {
			pixels = append(pixels, probe...)
			continue
		}
		for range probe {
			pixels = append(pixels, rng.Float32()*4-2)
		}
	}
	dst := newMatrix(e.Batch(), e.Dim())
	must.Do(t, e.Extract(dst, pixels))
	return dst.Data[position*e.Dim() : (position+1)*e.Dim()]
}

// BenchmarkExtract runs one goroutine per core; ns/op is per batch, photos/s
// the total of all cores.
func BenchmarkExtract(b *testing.B) {
	for _, m := range []struct{ label, file string }{{"vit_tiny", "vit_tiny_patch16_224"},
		{"mobilenetv2", "mobilenetv2_features"}} {
		for _, n := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/batch=%d", m.label, n), func(b *testing.B) { benchmarkExtract(b, m.file, n) })
		}
	}
}

func benchmarkExtract(b *testing.B, file string, n int) {
	cfg := DefaultConfig()
	cfg.Batch = n
	e := openReal(b, file, cfg)
	pixels := slices.Repeat(hashedPhoto(0), n)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		dst := newMatrix(n, e.Dim())
		for pb.Next() {
			if err := e.Extract(dst, pixels); err != nil {
				b.Error(err)
				return
			}
		}
	})
	photos := float64(b.N * n)
	b.ReportMetric(photos/b.Elapsed().Seconds(), "photos/s")
}
