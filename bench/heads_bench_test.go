//go:build unix

package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
)

// BenchmarkTrainHead shows what pipeline train does with embeddings of 16 images per
// class: the head, what it chooses and the calibration, by method, classes and
// dimensions. cpu-s is the processor time, which other load on the machine affects less.
func BenchmarkTrainHead(b *testing.B) {
	const images = 16
	for _, size := range []struct{ classes, d int }{{10, 512}, {100, 192}, {100, 512}, {100, 1280}, {196, 512},
		{400, 512}} {
		for _, name := range []string{"ncm", "lda", "plda", "plda+", "ppca", "ppca-eb", "gptree"} {
			b.Run(fmt.Sprintf("%s/classes=%d_d=%d", name, size.classes, size.d), func(b *testing.B) {
				benchmarkTrain(b, name, size.classes, images, size.d)
			})
		}
	}
}

// BenchmarkTrainFew is BenchmarkTrainHead for a few images of each class: of thousands of classes,
// and of more values than images.
func BenchmarkTrainFew(b *testing.B) {
	for _, size := range []struct{ classes, images, d int }{{500, 3, 64}, {1000, 3, 64}, {2000, 3, 64}, {4000, 3, 64},
		{500, 3, 512}, {15, 8, 1280}, {3, 2, 4096}} {
		for _, name := range []string{"lda", "plda", "plda+", "gptree"} {
			if size.classes >= 500 && name != "plda" {
				continue // the others take minutes
			}
			b.Run(fmt.Sprintf("%s/classes=%d_images=%d_d=%d", name, size.classes, size.images, size.d),
				func(b *testing.B) { benchmarkTrain(b, name, size.classes, size.images, size.d) })
		}
	}
}

// BenchmarkTrainPython compares plda, which is calibrated, with heads of scikit-learn, calibrated or not, in
// processor time of all threads.
func BenchmarkTrainPython(b *testing.B) {
	for _, peer := range []string{"lda", "calibrated-lda", "logistic"} {
		for _, size := range []struct{ classes, images, d int }{{100, 16, 512}, {400, 3, 64}} {
			b.Run(fmt.Sprintf("%s/classes=%d_images=%d_d=%d", peer, size.classes, size.images, size.d),
				func(b *testing.B) {
					job := fmt.Sprintf("%s %d %d %d", peer, size.classes, size.images, size.d)
					p := newPeer(b, []string{job}, "heads_peer.py")
					train := training(b, "plda", size.classes, size.images, size.d)
					versus(b, p, "of_sklearn", func() time.Duration {
						begin := processorTime(b)
						train()
						return processorTime(b) - begin
					})
				})
		}
	}
}

// benchmarkTrain trains a model of some images of each class.
func benchmarkTrain(b *testing.B, name string, classes, images, d int) {
	train := training(b, name, classes, images, d)
	begin := processorTime(b)
	for b.Loop() {
		train()
	}
	b.ReportMetric((processorTime(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
}

// training returns what trains a model of some images of each class.
func training(b *testing.B, name string, classes, images, d int) func() {
	b.Helper()
	c, err := native.Choose(native.Config{Backend: native.ONNXRuntime},
		func() (*ort.Runtime, error) { return orttest.Open(b), nil })
	if err != nil {
		b.Skip(err)
	}
	x, y := spectrum(classes*images, d, classes)
	batch := model.Batch{X: x, Labels: y}
	for i := range y {
		batch.Paths = append(batch.Paths, fmt.Sprint(i))
		batch.Content = append(batch.Content, embedding.HashRow(dense.Row32(x, i)))
	}
	s := model.Settings{
		Method: name, Heads: method.DefaultConfig(), Provenance: embedding.Provenance{Dim: d}, Backend: c.Backend,
	}
	return func() { must.Get2(model.Train(b.Context(), s, batch))(b) }
}
