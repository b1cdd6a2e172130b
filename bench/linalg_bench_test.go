package bench_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
)

// repeats is the number of jobs per round, so that caches and threads are warm.
const repeats = 10

// eachBackend runs a benchmark on every available backend.
func eachBackend(b *testing.B, bench func(b *testing.B, c native.Choice)) {
	for _, name := range []string{native.Gonum, native.ONNXRuntime, native.OpenBLAS} {
		b.Run(name, func(b *testing.B) {
			c, err := native.Choose(native.Config{Backend: name},
				func() (*ort.Runtime, error) { return orttest.Open(b), nil })
			if err != nil {
				b.Skip(err)
			}
			bench(b, c)
		})
	}
}

// spectrum returns rows whose coordinates have standard deviations 1/√(j+1),
// each class around its own centre.
func spectrum(n, d, classes int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	centres := make([]float64, classes*d)
	for i := range centres {
		centres[i] = rng.NormFloat64() / math.Sqrt(float64(i%d+1))
	}
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	y := make([]string, n)
	for i := range x.Data {
		row, j := i/d, i%d
		x.Data[i] = float32(rng.NormFloat64()/math.Sqrt(float64(j+1)) + centres[row%classes*d+j])
		y[row] = fmt.Sprintf("class%05d", row%classes)
	}
	return x, y
}

func newPPCA(b *testing.B, c native.Choice, q int) *ppca.PPCA {
	cfg := ppca.DefaultConfig()
	cfg.Q, cfg.Statistics = q, false
	h := must.Get(ppca.New(cfg))(b)
	h.UseBackend(c.Backend)
	return h
}

// BenchmarkPPCAFit fits one class; of_sklearn is our speed relative to
// scikit-learn's PCA.
func BenchmarkPPCAFit(b *testing.B) {
	for _, s := range []struct{ n, d, q int }{
		{500, 640, 20}, {1300, 640, 20}, {500, 2560, 20}, {1300, 2560, 20}, // the rows of the table
		{125, 640, 20}, {250, 640, 20}, {2600, 640, 20}, {500, 160, 20}, {500, 320, 20}, {500, 1280, 20}, {500, 640, 5},
		{500, 640, 80},
	} {
		b.Run(fmt.Sprintf("n=%d_d=%d_q=%d", s.n, s.d, s.q), func(b *testing.B) {
			x, y := spectrum(s.n, s.d, 1)
			eachBackend(b, func(b *testing.B, c native.Choice) {
				p := newPeer(b, []string{fmt.Sprintf("fit %d %d %d %d", repeats, s.n, s.d, s.q)}, "linalg_peer.py")
				versus(b, p, "of_sklearn", steady(b, func() error {
					return newPPCA(b, c, s.q).Learn(context.Background(), x, y)
				}))
			})
		})
	}
}

// BenchmarkPPCAScore scores batches of 256 against K classes; of_sgemm is our
// speed relative to OpenBLAS's for the product alone, 256×d by d×Kq.
func BenchmarkPPCAScore(b *testing.B) {
	for _, s := range []struct{ K, d, q int }{
		{1000, 640, 20}, // the row of the table
		{100, 640, 20}, {300, 640, 20}, {1000, 160, 20}, {1000, 320, 20}, {1000, 640, 5}, {1000, 640, 10},
	} {
		b.Run(fmt.Sprintf("K=%d_d=%d_q=%d_n=256", s.K, s.d, s.q), func(b *testing.B) {
			x, y := spectrum((s.q+1)*s.K, s.d, s.K)
			queries, _ := spectrum(256, s.d, s.K)
			eachBackend(b, func(b *testing.B, c native.Choice) {
				h := newPPCA(b, c, s.q)
				must.Do(b, h.Learn(context.Background(), x, y))
				p := newPeer(b, []string{fmt.Sprintf("product %d 256 %d %d", repeats, s.d, s.K*s.q)}, "linalg_peer.py")
				dst := blas64.General{Rows: 256, Cols: s.K, Stride: s.K, Data: make([]float64, 256*s.K)}
				versus(b, p, "of_sgemm", steady(b, func() error { return h.Score(dst, nil, queries) }))
			})
		})
	}
}

// versus reports our speed relative to the peer's, and both times.
func versus(b *testing.B, p peer, unit string, work func() time.Duration) {
	work() // warm
	var ours, theirs, ratio tally
	for b.Loop() {
		t := interleave(rested(work), rested(func() time.Duration { return p.round(b) }))
		for i := range rounds {
			ours, theirs = append(ours, milliseconds(t[0][i], 1)), append(theirs, milliseconds(t[1][i], 1))
			ratio = append(ratio, t[1][i].Seconds()/t[0][i].Seconds())
		}
	}
	ratio.report(b, unit)
	b.ReportMetric(ours.median(), "ms")
	b.ReportMetric(theirs.median(), "peer_ms")
}

// rested waits before the work: OpenBLAS's threads keep the processor busy for
// some 25 ms after a product, which would slow the other side.
func rested(work func() time.Duration) func() time.Duration {
	return func() time.Duration {
		time.Sleep(60 * time.Millisecond)
		return work()
	}
}

// steady does the work as often per round as the peer, and returns the time of
// one repeat.
func steady(b *testing.B, work func() error) func() time.Duration {
	return func() time.Duration {
		begin := time.Now()
		for range repeats {
			must.Do(b, work())
		}
		return time.Since(begin) / repeats
	}
}
