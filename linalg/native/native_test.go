package native_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

func random32(rows, cols, stride int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func random64(rows, cols, stride int, seed uint64) blas64.General {
	m := random32(rows, cols, stride, seed)
	out := blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, len(m.Data))}
	for i, v := range m.Data {
		out.Data[i] = float64(v) * (1 + 1e-9*float64(i%7))
	}
	return out
}

// shapes are n, K, d on both sides of every unit and threshold.
var shapes = [][3]int{{1, 1, 1}, {3, 5, 7}, {1, 512, 128}, {15, 513, 128}, {16, 103, 640}, {17, 104, 640},
	{130, 700, 96}, {256, 1003, 33}, {33, 3, 30000}}

func TestProducts(t *testing.T) {
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		for _, s := range shapes {
			for _, gap := range []int{0, 3} {
				a, b := random64(s[0], s[2], s[2]+gap, 1), random64(s[1], s[2], s[2]+gap, 2)
				check64(t, m.MulTrans64, a, b, s[1]+gap)
				check64(t, m.Mul64, a, b, s[1]+gap)
				check32(t, m.MulTrans, a, b, s[1]+gap)
				check32(t, m.Mul32, a, b, s[1]+gap)
			}
		}
	})
}

// TestRawProducts: a·bᵀ and a·b, of views with gaps.
func TestRawProducts(t *testing.T) {
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		for _, s := range shapes {
			for _, gap := range []int{0, 3} {
				a, b := random64(s[0], s[2], s[2]+gap, 1), random64(s[1], s[2], s[2]+gap, 2)
				check64(t, m.Raw().Mul64, a, b, s[1]+gap)
				check64(t, func(dst, a, b blas64.General) error { return m.Raw().MulPlain64(dst, a, turned(b)) }, a, b,
					s[1]+gap)
				check32(t, m.Raw().Mul32, a, b, s[1]+gap)
			}
		}
	})
}

// TestRawColumnsDoNotDependOnTheirPlace: of 16 rows on the right in float32,
// each gives the same column to the last bit, whatever its position and the other
// rows. Scores of few rows rely on it.
func TestRawColumnsDoNotDependOnTheirPlace(t *testing.T) {
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		for _, s := range [][2]int{{2048, 640}, {33, 640}, {1, 64}, {700, 2560}, {5, 30}, {130, 192}} {
			x, row := random32(s[0], s[1], s[1], 1), random32(1, s[1], s[1], 2)
			var want []float32
			for place := range 16 {
				stride := (s[1] + 3) / 4 * 4 // rows begin at multiples of 16 bytes
				b := random32(16, s[1], stride, uint64(place+3))
				if place%2 == 0 {
					clear(b.Data)
				}
				copy(b.Data[place*stride:place*stride+s[1]], row.Data)
				dst := dense.New32(s[0], 16)
				must.Do(t, m.Raw().Mul32(dst, x, b))
				var got []float32
				for i := range s[0] {
					got = append(got, dst.Data[i*16+place])
				}
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v: column %d differs from column 0", s, place)
				}
			}
		}
	})
}

func turned(m blas64.General) blas64.General {
	out := blas64.General{Rows: m.Cols, Cols: m.Rows, Stride: m.Rows + 2, Data: make([]float64, m.Cols*(m.Rows+2))}
	for i := range m.Rows {
		for j := range m.Cols {
			out.Data[j*out.Stride+i] = m.Data[i*m.Stride+j]
		}
	}
	return out
}

func check64(t *testing.T, mul func(dst, a, b blas64.General) error, a, b blas64.General, stride int) {
	t.Helper()
	dst := random64(a.Rows, b.Rows, stride, 3)
	must.Do(t, mul(dst, a, b))
	worst := 0.0
	eachElement(a, b, func(i, j int, want, scale float64) {
		worst = max(worst, math.Abs(dst.Data[i*stride+j]-want)/scale)
	})
	if !(worst < 1e-13) {
		t.Errorf("%d×%d×%d in float64: off by %.1e of the terms", a.Rows, b.Rows, a.Cols, worst)
	}
	gapKept(t, dst.Data, random64(a.Rows, b.Rows, stride, 3).Data, b.Rows, stride)
}

func check32(t *testing.T, mul func(dst, a, b blas32.General) error, a, b blas64.General, stride int) {
	t.Helper()
	a32, b32 := random32(a.Rows, a.Cols, a.Stride, 1), random32(b.Rows, b.Cols, b.Stride, 2)
	dst := random32(a.Rows, b.Rows, stride, 3)
	must.Do(t, mul(dst, a32, b32))
	worst := 0.0
	eachElement(a, b, func(i, j int, want, scale float64) {
		worst = max(worst, math.Abs(float64(dst.Data[i*stride+j])-want)/scale)
	})
	if !(worst < 1e-6) {
		t.Errorf("%d×%d×%d in float32: off by %.1e of the terms", a.Rows, b.Rows, a.Cols, worst)
	}
	gapKept(t, dst.Data, random32(a.Rows, b.Rows, stride, 3).Data, b.Rows, stride)
}

// eachElement returns a·bᵀ by loops, and ‖a_i‖·‖b_j‖.
func eachElement(a, b blas64.General, do func(i, j int, want, scale float64)) {
	for i := range a.Rows {
		for _, j := range []int{0, b.Rows / 2, b.Rows - 1} {
			var sum, aa, bb float64
			for k := range a.Cols {
				x, y := a.Data[i*a.Stride+k], b.Data[j*b.Stride+k]
				sum, aa, bb = sum+x*y, aa+x*x, bb+y*y
			}
			do(i, j, sum, math.Sqrt(aa*bb))
		}
	}
}

// gapKept tests that the gaps between the rows of dst are not touched.
func gapKept[F float32 | float64](t *testing.T, got, before []F, cols, stride int) {
	t.Helper()
	for i := range got {
		if i%stride >= cols && got[i] != before[i] {
			t.Fatalf("the gap at %d was written", i)
		}
	}
}

// TestRowsDoNotDependOnTheirCompany: bit for bit, for any number of rows and cores,
// in one goroutine or several.
func TestRowsDoNotDependOnTheirCompany(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	nativetest.Each(t, func(t *testing.T, m linalg.Backend) {
		for _, s := range [][3]int{{300, 1003, 640}, {300, 20, 64}, {300, 128, 512}, {300, 400, 192}} {
			a, b := random32(s[0], s[2], s[2], 1), random32(s[1], s[2], s[2], 2)
			a64, b64 := random64(s[0], s[2], s[2], 1), random64(s[1], s[2], s[2], 2)
			whole, whole64 := dense.New32(s[0], s[1]), dense.New(s[0], s[1])
			runtime.GOMAXPROCS(2)
			must.Do(t, m.MulTrans(whole, a, b))
			must.Do(t, m.MulTrans64(whole64, a64, b64))
			runtime.GOMAXPROCS(1)
			for _, part := range [][2]int{{0, 1}, {7, 8}, {127, 128}, {299, 300}, {3, 20}, {100, 229}, {0, 300}} {
				n := part[1] - part[0]
				got, got64 := dense.New32(n, s[1]), dense.New(n, s[1])
				rows, rows64 := a, a64
				rows.Rows, rows.Data = n, a.Data[part[0]*s[2]:part[1]*s[2]]
				rows64.Rows, rows64.Data = n, a64.Data[part[0]*s[2]:part[1]*s[2]]
				must.Do(t, m.MulTrans(got, rows, b))
				must.Do(t, m.MulTrans64(got64, rows64, b64))
				if !slices.Equal(got.Data, whole.Data[part[0]*s[1]:part[1]*s[1]]) {
					t.Errorf("%v float32: rows %v alone differ", s, part)
				}
				if !slices.Equal(got64.Data, whole64.Data[part[0]*s[1]:part[1]*s[1]]) {
					t.Errorf("%v float64: rows %v alone differ", s, part)
				}
			}
		}
	})
}

func BenchmarkProduct(b *testing.B) {
	for _, s := range [][3]int{{256, 640, 640}, {16, 640, 640}, {256, 20000, 640}} {
		for _, name := range []string{native.Gonum, native.ONNXRuntime, native.OpenBLAS} {
			b.Run(fmt.Sprintf("f32/n=%d_K=%d_d=%d/%s", s[0], s[1], s[2], name), func(b *testing.B) {
				m := nativetest.Open(b, name)
				x, y, dst := random32(s[0], s[2], s[2], 1), random32(s[1], s[2], s[2], 2), dense.New32(s[0], s[1])
				report(b, s, func() error { return m.Mul32(dst, x, y) })
			})
			b.Run(fmt.Sprintf("f64/n=%d_K=%d_d=%d/%s", s[0], s[1], s[2], name), func(b *testing.B) {
				m := nativetest.Open(b, name).Raw()
				x, y, dst := random64(s[0], s[2], s[2], 1), random64(s[1], s[2], s[2], 2), dense.New(s[0], s[1])
				report(b, s, func() error { return m.Mul64(dst, x, y) })
			})
		}
	}
}

// report states GFLOP/s of one core.
func report(b *testing.B, s [3]int, mul func() error) {
	for b.Loop() {
		must.Do(b, mul())
	}
	b.ReportMetric(2*float64(s[0])*float64(s[1])*float64(s[2])*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
