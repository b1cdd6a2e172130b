package gpsoftmax_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// clouds returns n examples of each of C classes, each around a separate
// centre.
func clouds(C, n, d int) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(uint64(C), uint64(n)))
	x := blas32.General{Rows: C * n, Cols: d, Stride: d}
	var y []string
	for c := range C {
		centre := make([]float64, d)
		for j := range centre {
			centre[j] = rng.NormFloat64()
		}
		for range n {
			for _, v := range centre {
				x.Data = append(x.Data, float32(v+rng.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("c%03d", c))
		}
	}
	return x, y
}

// BenchmarkLearn measures one step in one chain; the time is proportional to
// both numbers.
func BenchmarkLearn(b *testing.B) {
	for _, s := range []struct {
		method string
		kind   kernel.Kind
		C      int
	}{
		{gpsoftmax.LSM, kernel.RBF, 4}, {gpsoftmax.LSM, kernel.RBF, 20}, {gpsoftmax.LSM, kernel.RBF, 60},
		{gpsoftmax.LSM, kernel.Linear, 60},
		{gpsoftmax.OVE, kernel.RBF, 4}, {gpsoftmax.OVE, kernel.RBF, 10},
	} {
		b.Run(fmt.Sprintf("%s/%s/C=%d/n=%d/d=192", s.method, s.kind, s.C, 30*s.C), func(b *testing.B) {
			x, y := clouds(s.C, 30, 192)
			cfg := gpsoftmax.DefaultLSM()
			cfg.Kernel, cfg.Chains, cfg.Steps = s.kind, 1, 1
			for b.Loop() {
				learned(b, s.method, cfg, x, y)
			}
		})
	}
}

// BenchmarkLogProb measures predicting 256 examples with the default of 80
// draws.
func BenchmarkLogProb(b *testing.B) {
	for _, s := range []struct {
		method string
		C      int
	}{{gpsoftmax.LSM, 10}, {gpsoftmax.LSM, 60}, {gpsoftmax.OVE, 10}} {
		b.Run(fmt.Sprintf("%s/C=%d/q=256/d=192", s.method, s.C), func(b *testing.B) {
			x, y := clouds(s.C, 30, 192)
			cfg := gpsoftmax.DefaultLSM()
			cfg.Steps = 1
			h := learned(b, s.method, cfg, x, y)
			queries := blas32.General{Rows: 256, Cols: x.Cols, Stride: x.Stride, Data: x.Data}
			dst := blas64.General{Rows: 256, Cols: s.C, Stride: s.C, Data: make([]float64, 256*s.C)}
			for b.Loop() {
				must.Do(b, h.Score(dst, nil, queries))
			}
		})
	}
}

func learned(b *testing.B, method string, cfg gpsoftmax.Config, x blas32.General, y []string) *gpsoftmax.Head {
	b.Helper()
	h := must.Get(gpsoftmax.New(method, cfg))(b)
	must.Do(b, h.Learn(context.Background(), x, y))
	return h
}
