package gpr_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

const (
	benchDim     = 192
	benchOutputs = 10
)

func benchData(n int) (x, t blas64.General) { return benchClasses(n, benchOutputs) }

// benchClasses is data with a target for each of C classes.
func benchClasses(n, C int) (x, t blas64.General) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	x = blas64.General{Rows: n, Cols: benchDim, Stride: benchDim, Data: make([]float64, n*benchDim)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64() / 14 // length about 1
	}
	t = blas64.General{Rows: n, Cols: C, Stride: C, Data: make([]float64, n*C)}
	for i := range t.Data {
		t.Data[i] = float64(2*rng.IntN(2) - 1)
	}
	return x, t
}

func part(m blas64.General, first, rows int) blas64.General {
	return blas64.General{Rows: rows, Cols: m.Cols, Stride: m.Stride,
		Data: m.Data[first*m.Stride : (first+rows)*m.Stride]}
}

func benchNew(b *testing.B, method gpr.Method) *gpr.Regression {
	b.Helper()
	return must.Get(gpr.New(gpr.RBF{Lengthscale: 0.7, Outputscale: 1}, gpr.Config{Method: method, Noise: 0.03}))(b)
}

func benchFit(b *testing.B, method gpr.Method, x, t blas64.General) *gpr.Regression {
	b.Helper()
	r := benchNew(b, method)
	must.Do(b, r.Add(context.Background(), x, t))
	return r
}

// BenchmarkBatch is a batch solve: kernel matrix, factor, weights.
func BenchmarkBatch(b *testing.B) {
	for _, name := range []string{native.Gonum, native.ONNXRuntime, native.OpenBLAS} {
		b.Run(name, func(b *testing.B) {
			products := nativetest.Open(b, name).Backend
			for _, s := range []struct{ n, C int }{{500, 10}, {1000, 10}, {2000, 10}, {4000, 10}, {4000, 100}} {
				x, t := benchClasses(s.n, s.C)
				b.Run(fmt.Sprintf("n=%d/C=%d", s.n, s.C), func(b *testing.B) {
					for b.Loop() {
						r := benchNew(b, gpr.Cholesky)
						r.UseBackend(products)
						must.Do(b, r.Add(context.Background(), x, t))
					}
				})
			}
		})
	}
}

// BenchmarkAdd adds k examples to n. The time an example of k = 1 includes
// its share of what Woodbury updates put off.
func BenchmarkAdd(b *testing.B) {
	for _, method := range methods() {
		for _, n := range []int{500, 1000, 2000, 4000} {
			x, t := benchData(n + 1000)
			base := benchFit(b, method, part(x, 0, n), part(t, 0, n))
			for _, k := range []int{1, 10, 100} {
				b.Run(fmt.Sprintf("%s/n=%d/k=%d", method, n, k), func(b *testing.B) {
					r := base.Clone()
					for b.Loop() {
						if r.Len()+k > n+1000 || r.Len()+k > n+n/8+k {
							b.StopTimer()
							r = base.Clone()
							b.StartTimer()
						}
						must.Do(b, r.Add(context.Background(), part(x, r.Len(), k), part(t, r.Len(), k)))
					}
				})
			}
		}
	}
}

// BenchmarkAddByClasses adds one example, and 25 as a session of five classes
// with five each, to n = 2000 of C classes.
func BenchmarkAddByClasses(b *testing.B) {
	const n = 2000
	for _, C := range []int{10, 100, 300} {
		x, t := benchClasses(n+250, C)
		for _, method := range methods() {
			base := benchFit(b, method, part(x, 0, n), part(t, 0, n))
			for _, k := range []int{1, 25} {
				b.Run(fmt.Sprintf("%s/n=%d/C=%d/k=%d", method, n, C, k), func(b *testing.B) {
					r := base.Clone()
					for b.Loop() {
						if r.Len()+k > n+250 {
							b.StopTimer()
							r = base.Clone()
							b.StartTimer()
						}
						must.Do(b, r.Add(context.Background(), part(x, r.Len(), k), part(t, r.Len(), k)))
					}
				})
			}
		}
	}
}

// BenchmarkChange gives one example another input, or label, and removes one.
func BenchmarkChange(b *testing.B) {
	for _, method := range methods() {
		for _, n := range []int{1000, 4000} {
			x, t := benchData(n + 100)
			r := benchFit(b, method, part(x, 0, n), part(t, 0, n))
			i := 0
			next := func() int { i = (i + 37) % n; return i }
			b.Run(fmt.Sprintf("%s/n=%d/input", method, n), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, r.SetInputs(context.Background(), []int{next()}, part(x, n+i%100, 1)))
				}
			})
			b.Run(fmt.Sprintf("%s/n=%d/label", method, n), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, r.SetTargets(context.Background(), []int{next()}, part(t, n+i%100, 1)))
				}
			})
			b.Run(fmt.Sprintf("%s/n=%d/remove", method, n), func(b *testing.B) {
				for b.Loop() {
					if r.Len() < n-n/8 {
						b.StopTimer()
						r = benchFit(b, method, part(x, 0, n), part(t, 0, n))
						b.StartTimer()
					}
					must.Do(b, r.Remove(context.Background(), []int{next() % r.Len()}))
				}
			})
		}
	}
}

// BenchmarkPredict scores 256 inputs.
func BenchmarkPredict(b *testing.B) {
	for _, method := range methods()[:2] {
		for _, n := range []int{1000, 2000} {
			x, t := benchData(n + 256)
			r := benchFit(b, method, part(x, 0, n), part(t, 0, n))
			mean, variance := part(t, 0, 256), make([]float64, 256)
			b.Run(fmt.Sprintf("mean/%s/n=%d/m=256", method, n), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, r.Mean(mean, part(x, n, 256)))
				}
			})
			b.Run(fmt.Sprintf("variance/%s/n=%d/m=256", method, n), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, r.Variance(variance, part(x, n, 256)))
				}
			})
		}
	}
}
