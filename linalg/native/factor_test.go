package native_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// definite returns I + x·xᵀ with rows of a gap, NaN above the diagonal.
func definite(n, gap int) blas64.General {
	g := linalg.Gram(random64(n, n/2+1, n/2+1, 5))
	a := blas64.General{Rows: n, Cols: n, Stride: n + gap, Data: make([]float64, n*(n+gap))}
	for i := range n {
		for j := range n {
			a.Data[i*a.Stride+j] = math.NaN()
			if j <= i {
				a.Data[i*a.Stride+j] = g.Data[i*n+j]
			}
		}
		a.Data[i*a.Stride+i]++
	}
	return a
}

// TestFactorize: L·Lᵀ is the matrix, L⁻¹·L is I, and nothing above the diagonal
// is read.
func TestFactorize(t *testing.T) {
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		for _, n := range []int{1, 5, 127, 128, 160, 300, 800} {
			a := definite(n, 3)
			l := blas64.General{Rows: n, Cols: n, Stride: a.Stride, Data: append([]float64(nil), a.Data...)}
			if !linalg.Factorize(m.Raw(), l) {
				t.Fatalf("%d: not positive definite", n)
			}
			x := blas64.General{Rows: n, Cols: n, Stride: a.Stride, Data: append([]float64(nil), l.Data...)}
			must.Do(t, linalg.InvertLower(m.Raw(), x))
			for _, i := range []int{0, n / 3, n - 1} {
				for _, j := range []int{0, i / 2, i} {
					var product, one float64
					for k := range j + 1 {
						product += l.Data[i*l.Stride+k] * l.Data[j*l.Stride+k]
					}
					for k := j; k <= i; k++ {
						one += x.Data[i*x.Stride+k] * l.Data[k*l.Stride+j]
					}
					want := 0.0
					if i == j {
						want = 1
					}
					if math.Abs(product-a.Data[i*a.Stride+j]) > 1e-12*float64(n) || math.Abs(one-want) > 1e-10 {
						t.Errorf("%d: (%d, %d): L·Lᵀ = %g, want %g; L⁻¹·L = %g", n, i, j, product, a.Data[i*a.Stride+j],
							one)
					}
				}
			}
			if n > 1 && (x.Data[1] != 0 || !math.IsNaN(l.Data[1])) {
				t.Errorf("%d: above the diagonal are %g and %g", n, l.Data[1], x.Data[1])
			}
			a.Data[(n-1)*a.Stride+n-1] = -1
			if linalg.Factorize(m.Raw(), a) {
				t.Errorf("%d: an indefinite matrix has a factor", n)
			}
		}
	})
}

func BenchmarkFactorize(b *testing.B) {
	for _, n := range []int{100, 300, 600, 1800, 4000} {
		for _, name := range []string{native.Gonum, native.ONNXRuntime, native.OpenBLAS} {
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				raw, a := nativetest.Open(b, name).Raw(), definite(n, 0)
				l := dense.New(n, n)
				for b.Loop() {
					copy(l.Data, a.Data)
					if !linalg.Factorize(raw, l) {
						b.Fatal("not positive definite")
					}
				}
				b.ReportMetric(float64(n)*float64(n)*float64(n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
