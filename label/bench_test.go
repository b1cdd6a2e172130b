package label_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
)

// A flood generates n embeddings and monitors the heap.
type flood struct {
	n    int
	most *uint64
}

func (flood) Provenance() embedding.Provenance { return embedding.Provenance{} }

func (f flood) Each(_ context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	for i := range f.n {
		item := embedding.Item{Sample: dataset.Sample{Path: fmt.Sprintf("2024/%03d/IMG_%07d.jpg", i/1000, i)},
			Vector: []float32{float32(i%100) / 50}}
		if err := emit(item); err != nil {
			return embedding.Outcome{}, err
		}
		if i%10_000 == 9_999 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			*f.most = max(*f.most, m.HeapAlloc)
		}
	}
	return embedding.Outcome{}, nil
}

// TestMemoryDoesNotGrow: five times the images, no more memory.
func TestMemoryDoesNotGrow(t *testing.T) {
	heap := func(n int) uint64 {
		var most uint64
		job := newJob(t, table{}, filepath.Join(t.TempDir(), "out"))
		job.Config.Format, job.Config.RowsPerFile, job.Images = []string{"csv", "jsonl", "parquet"}, 10_000,
			flood{n, &most}
		must.Get(job.Run(context.Background()))(t)
		return most
	}
	small := heap(10_000)
	if large := heap(50_000); large > small+16<<20 {
		t.Errorf("%d MB for 50 000 images, %d MB for 10 000", large>>20, small>>20)
	}
}

func BenchmarkJob(b *testing.B) {
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/n=%d", format, n), func(b *testing.B) {
				var most uint64
				for b.Loop() {
					job := newJob(b, table{}, b.TempDir())
					job.Config = label.DefaultConfig()
					job.Config.Format, job.Images = []string{format}, flood{n, &most}
					must.Get(job.Run(context.Background()))(b)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(most)/(1<<20), "heap-MB")
			})
		}
	}
}
