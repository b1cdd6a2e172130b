package bench_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
	"github.com/seed-90d10d51/pipeline/research/experiment/hierarchy"
)

// BenchmarkHPPCA scores images with the hierarchy and with the flat ppca head
// on the same rows: neurons is the speed-up in Gaussians scored, clock the
// wall-clock speed-up, and share is clock over neurons.
func BenchmarkHPPCA(b *testing.B) {
	products := nativetest.Open(b, native.Auto)
	for _, K := range []int{100, 300, 1000, 3000, 10450} {
		b.Run(fmt.Sprintf("K=%d_d=640_q=20", K), func(b *testing.B) {
			s := hierarchy.Synthetic{K: K, Dim: 640, Train: 22, Test: max(1, 4096/K), Noise: 0.4}
			train, test := s.Draw(1)
			flat, tall := newPPCA(b, products, 20), newHPPCA(b, products)
			for _, head := range []classifier.Learner{flat, tall} {
				must.Do(b, head.Learn(context.Background(), train.X, train.Y))
			}
			for _, rows := range []int{64, 256, 1024, 4096} {
				b.Run(fmt.Sprintf("rows=%d", rows),
					func(b *testing.B) { flatAgainstTall(b, flat, tall, scattered(test.X, rows)) })
			}
		})
	}
}

func newHPPCA(b *testing.B, c native.Choice) *hppca.HPPCA {
	cfg := hppca.DefaultConfig()
	cfg.Statistics = false
	h := must.Get(hppca.New(cfg))(b)
	h.UseBackend(c.Backend)
	return h
}

// scattered returns evenly spaced rows of x.
func scattered(x blas32.General, rows int) blas32.General {
	of := make([]int, rows)
	for i := range of {
		of[i] = i * x.Rows / rows
	}
	return dense.Gather32(x, of)
}

func flatAgainstTall(b *testing.B, flat, tall classifier.Head, x blas32.General) {
	visits := must.Get(tall.(*hppca.HPPCA).Visits(x))(b)
	scored := 0
	for _, v := range visits {
		scored += v.Neurons
	}
	neurons := float64(len(flat.Classes())*x.Rows) / float64(scored)
	dst := blas64.General{Rows: x.Rows, Cols: len(flat.Classes()), Stride: len(flat.Classes())}
	dst.Data = make([]float64, dst.Rows*dst.Cols)
	score := func(head classifier.Head) func() time.Duration {
		return func() time.Duration {
			begin := time.Now()
			must.Do(b, head.Score(dst, nil, x))
			return time.Since(begin)
		}
	}
	score(tall)()
	var clock, share, flatTime, tallTime tally
	for b.Loop() {
		t := interleave(score(flat), score(tall))
		for i := range rounds {
			flatTime, tallTime = append(flatTime, milliseconds(t[0][i], 1)), append(tallTime, milliseconds(t[1][i], 1))
			clock = append(clock, flatTime[len(flatTime)-1]/tallTime[len(tallTime)-1])
			share = append(share, clock[len(clock)-1]/neurons)
		}
	}
	share.report(b, "share")
	b.ReportMetric(clock.median(), "clock")
	b.ReportMetric(neurons, "neurons")
	b.ReportMetric(tallTime.median(), "ms")
	b.ReportMetric(flatTime.median(), "flat_ms")
}
