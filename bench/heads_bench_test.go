//go:build unix

package bench_test

import (
	"fmt"
	"testing"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// BenchmarkTrainHead shows what pipeline train does with embeddings of 16 images per
// class: the head, what it chooses and the calibration, by method, classes and
// dimensions. cpu-s is the processor time, which other load on the machine affects less.
func BenchmarkTrainHead(b *testing.B) {
	c, err := native.Choose(native.Config{Backend: native.ONNXRuntime},
		func() (*ort.Runtime, error) { return orttest.Open(b), nil })
	if err != nil {
		b.Skip(err)
	}
	const images = 16
	for _, size := range []struct{ classes, d int }{{10, 512}, {100, 192}, {100, 512}, {100, 1280}, {196, 512},
		{400, 512}} {
		x, y := spectrum(size.classes*images, size.d, size.classes)
		batch := model.Batch{X: x, Labels: y}
		for i := range y {
			batch.Paths = append(batch.Paths, fmt.Sprint(i))
			batch.Content = append(batch.Content, embed.HashRow(dense.Row32(x, i)))
		}
		for _, name := range []string{"ncm", "lda", "plda", "plda+", "ppca", "ppca-eb", "gptree"} {
			b.Run(fmt.Sprintf("%s/classes=%d_d=%d", name, size.classes, size.d), func(b *testing.B) {
				s := model.Settings{Method: name, Heads: method.DefaultConfig(),
					Provenance: embed.Provenance{Dim: size.d}, Backend: c}
				begin := processorTime(b)
				for b.Loop() {
					if _, _, err := model.Train(b.Context(), s, batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((processorTime(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
