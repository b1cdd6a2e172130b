package adapt_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/adapt"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// manyPhotos are n photos of 100 classes, of 512 values, drawn as they are asked for.
type manyPhotos struct {
	n    int
	seed uint64
}

func (manyPhotos) Provenance() embedding.Provenance { return embedding.Provenance{Dim: 512} }

func (f manyPhotos) Each(_ context.Context, emit func(embedding.Item) error) (o embedding.Outcome, err error) {
	const classes = 100
	centres, noise := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(f.seed, 2))
	centre := make([]float32, classes*512)
	for j := range centre {
		centre[j] = float32(centres.NormFloat64())
	}
	for i := range f.n {
		x := make([]float32, 512)
		for j := range x {
			x[j] = centre[i%classes*512+j] + 3*float32(noise.NormFloat64())
		}
		s := dataset.Sample{Path: fmt.Sprint(i), Label: fmt.Sprint("c", i%classes)}
		if err := emit(embedding.Item{Sample: s, Hash: embedding.HashRow(x), Vector: x}); err != nil {
			return o, err
		}
	}
	return o, nil
}

// BenchmarkFit labels a folder as a whole, and says how much longer that is than asking the head (share) and
// what the heap grew to.
func BenchmarkFit(b *testing.B) {
	shown := must.Get(embedding.Collect(b.Context(), manyPhotos{400, 1}))(b)
	m, _ := must.Get2(model.Train(b.Context(), model.Settings{Method: "plda", Heads: method.DefaultConfig()},
		model.NewBatch(shown)))(b)
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				_, kept := must.Get2(adapt.Fit(b.Context(), m, label.Scorer{}, manyPhotos{n, 2}, b.TempDir()))(b)
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				b.ReportMetric(float64(memory.HeapSys)/(1<<20), "heap-MiB")
				kept.Close()
			}
		})
		b.Run(fmt.Sprint(n, "/scored"), func(b *testing.B) {
			for b.Loop() {
				by := label.Scorer{Head: model.Untempered{Predictor: m.Predictor}}
				kept := must.Get(label.Keep(b.Context(), by, manyPhotos{n, 2}, b.TempDir(), true))(b)
				kept.Close()
			}
		})
	}
}
