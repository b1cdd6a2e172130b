package embedding

import (
	"context"
	"testing"
)

func BenchmarkStreamCached(b *testing.B) {
	const n = 10_000
	root, samples := photos(b, n)
	cache := mustCache(b, b.TempDir())
	newBench(cache, 1).run(b, root, samples)
	b.Run("n=10000_d=5", func(b *testing.B) {
		for b.Loop() {
			counts, err := newBench(cache, 1).Run(context.Background(), root, samples, func(Item) error { return nil })
			if err != nil || counts.Cached != n || counts.Read != 0 {
				b.Fatal(counts, err)
			}
		}
		b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "images/s")
	})
}

// BenchmarkStreamComputed measures the stream itself, including cache writes,
// with preprocessing and inference that cost nothing.
func BenchmarkStreamComputed(b *testing.B) {
	const n = 2_000
	root, samples := photos(b, n)
	b.Run("n=2000_d=5_batch=4", func(b *testing.B) {
		for b.Loop() {
			cache := mustCache(b, b.TempDir())
			counts, err := newBench(cache, 4).Run(context.Background(), root, samples, func(Item) error { return nil })
			if err != nil || counts.Inferred != n {
				b.Fatal(counts, err)
			}
			cache.Close()
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/n, "µs/image")
	})
}
