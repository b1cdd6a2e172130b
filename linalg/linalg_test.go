package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func random64(rows, cols int, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := dense.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// decaying returns rows whose coordinates have standard deviations 1/√(j+1),
// a spectrum like that of image features.
func decaying(rows, cols int, seed uint64) blas64.General {
	m := random64(rows, cols, seed)
	for i := range m.Data {
		m.Data[i] /= math.Sqrt(float64(i%cols + 1))
	}
	return m
}

func to32(m blas64.General) blas32.General {
	out := dense.New32(m.Rows, m.Cols)
	for i, v := range m.Data {
		out.Data[i] = float32(v)
	}
	return out
}

func TestMulTransEqualsLoops(t *testing.T) {
	a, b := random64(70, 33, 1), random64(200, 33, 2)
	dst, dst32 := dense.New(70, 200), dense.New32(70, 200)
	MulTrans64(dst, a, b)
	must.Do(t, Backend{}.MulTrans(dst32, to32(a), to32(b)))
	for i := range 70 {
		for j := range 200 {
			var want float64
			for k := range 33 {
				want += a.Data[i*33+k] * b.Data[j*33+k]
			}
			if math.Abs(dst.Data[i*200+j]-want) > 1e-12 {
				t.Fatalf("float64 (%d,%d) = %g, want %g", i, j, dst.Data[i*200+j], want)
			}
			if math.Abs(float64(dst32.Data[i*200+j])-want) > 1e-4 {
				t.Fatalf("float32 (%d,%d) = %g, want %g", i, j, dst32.Data[i*200+j], want)
			}
		}
	}
}

func TestMulTransRepeatsBitForBit(t *testing.T) {
	a, b := to32(random64(130, 640, 1)), to32(random64(500, 640, 2))
	whole := dense.New32(130, 500)
	must.Do(t, (Backend{}).MulTrans(whole, a, b))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i := range 130 {
		row := dense.New32(1, 500)
		must.Do(t, (Backend{}).MulTrans(row, dense.View32(a, i, 0, 1, 640), b))
		if !slices.Equal(row.Data, whole.Data[i*500:(i+1)*500]) {
			t.Fatalf("row %d alone on one core differs from the row within a batch", i)
		}
	}
}

func TestMulTransRefusesShapes(t *testing.T) {
	ok := dense.New32(2, 3)
	bad := []struct{ dst, a, b blas32.General }{
		{dense.New32(2, 2), ok, dense.New32(2, 4)},
		{dense.New32(3, 2), ok, ok},
		{dense.New32(2, 2), blas32.General{Rows: 2, Cols: 3, Stride: 2, Data: make([]float32, 9)}, ok},
		{dense.New32(2, 2), blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: make([]float32, 5)}, ok},
		{dense.New32(2, 2), blas32.General{Rows: -1, Cols: 3, Stride: 3}, ok},
	}
	for i, c := range bad {
		if (Backend{}).MulTrans(c.dst, c.a, c.b) == nil {
			t.Errorf("case %d was accepted", i)
		}
	}
}

func checkPairs(t *testing.T, a blas64.General, e Eigen, tol float64) {
	t.Helper()
	m := a.Rows
	for i, value := range e.Values {
		v := e.Vectors.Data[i*m : (i+1)*m]
		for r := range m {
			var av float64
			for c := range m {
				av += a.Data[r*a.Stride+c] * v[c]
			}
			if math.Abs(av-value*v[r]) > tol*e.Values[0] {
				t.Fatalf("pair %d: (a·v − θv)[%d] = %g", i, r, av-value*v[r])
			}
		}
		for j := range i + 1 {
			dot := blas64.Dot(blas64.Vector{N: m, Data: v, Inc: 1},
				blas64.Vector{N: m, Data: e.Vectors.Data[j*m:], Inc: 1})
			if want := map[bool]float64{true: 1}[i == j]; math.Abs(dot-want) > 1e-12 {
				t.Fatalf("v%d·v%d = %g", i, j, dot)
			}
		}
	}
}

func TestTopEigenEqualsFull(t *testing.T) {
	for _, c := range []struct{ n, d, q int }{
		{60, 30, 5}, {300, 200, 20}, {50, 200, 20}, {400, 120, 1}, {300, 150, 150},
	} {
		a := must.Get(Solver{}.Scatter(decaying(c.n, c.d, 3)))(t)
		e := must.Get(TopEigen(a, c.q))(t)
		full := must.Get(fullEigen(a, c.q))(t)
		for i, v := range e.Values {
			if math.Abs(v-full.Values[i]) > 1e-10*full.Values[0] {
				t.Errorf("n=%d d=%d: value %d = %g, want %g", c.n, c.d, i, v, full.Values[i])
			}
		}
		checkPairs(t, a, e, 1e-9)
	}
}

func TestTopEigenMultipleValues(t *testing.T) {
	for name, fill := range map[string]func(i int) float64{
		"identity":  func(int) float64 { return 1 },
		"zero":      func(int) float64 { return 0 },
		"rank 1":    func(i int) float64 { return map[bool]float64{true: 5}[i == 7] },
		"triple":    func(i int) float64 { return []float64{3, 3, 3, 1, 0.5}[min(i, 4)] },
		"tiny rest": func(i int) float64 { return math.Pow(10, -float64(i)) },
	} {
		a := dense.New(150, 150)
		for i := range 150 {
			a.Data[i*151] = fill(i)
		}
		e, err := TopEigen(a, 3)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := make([]float64, 150)
		for i := range want {
			want[i] = fill(i)
		}
		slices.Sort(want)
		for i := range 3 {
			if math.Abs(e.Values[i]-want[149-i]) > 1e-10 {
				t.Errorf("%s: value %d = %g, want %g", name, i, e.Values[i], want[149-i])
			}
		}
	}
}

// TestTopEigenCrowdedSpectra: values that repeat more often than a block of the
// iteration has rows, and values that nearly do, in no special directions.
func TestTopEigenCrowdedSpectra(t *testing.T) {
	const m = 300
	for name, value := range map[string]func(i int) float64{
		"a dozen copies": func(i int) float64 {
			return map[bool]float64{true: 10, false: 1 / float64(i+1)}[i < 12]
		},
		"a dozen, later":     func(i int) float64 { return []float64{9, 8, 7}[min(i/12, 2)] / float64(1+i/36) },
		"half of them":       func(i int) float64 { return map[bool]float64{true: 1, false: 0.9}[i < m/2] },
		"a cluster":          func(i int) float64 { return 1 - 1e-7*float64(i) },
		"copies in a slope":  func(i int) float64 { return math.Exp(-float64(i/9) / 5) },
		"one, then equal":    func(i int) float64 { return map[bool]float64{true: 100, false: 1}[i == 0] },
		"slowly falling":     func(i int) float64 { return 1 / math.Sqrt(float64(i+1)) },
		"a dozen, then none": func(i int) float64 { return map[bool]float64{true: 10}[i < 12] },
	} {
		a := turnedDiagonal(m, value)
		for _, q := range []int{1, 5, 20} {
			e, err := TopEigen(a, q)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := make([]float64, m)
			for i := range want {
				want[i] = value(i)
			}
			slices.Sort(want)
			for i := range q {
				if w := want[m-1-i]; math.Abs(e.Values[i]-w) > 1e-9*want[m-1] {
					t.Errorf("%s, q=%d: value %d = %.12g, want %.12g", name, q, i, e.Values[i], w)
					break
				}
			}
			checkPairs(t, a, e, 1e-9)
		}
	}
}

// turnedDiagonal returns H·diag(value)·H, H being a product of reflections.
func turnedDiagonal(m int, value func(i int) float64) blas64.General {
	a := dense.New(m, m)
	for i := range m {
		a.Data[i*m+i] = value(i)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	u, au := blas64.Vector{N: m, Data: make([]float64, m), Inc: 1},
		blas64.Vector{N: m, Data: make([]float64, m), Inc: 1}
	for range 4 { // (I − 2uuᵀ)·a·(I − 2uuᵀ) = a − w·uᵀ − u·wᵀ, w = 2(a·u − (uᵀau)u)
		for i := range m {
			u.Data[i] = rng.NormFloat64()
		}
		blas64.Scal(1/blas64.Nrm2(u), u)
		blas64.Gemv(blas.NoTrans, 2, a, u, 0, au)
		blas64.Axpy(-blas64.Dot(u, au), u, au)
		blas64.Ger(-1, au, u, a)
		blas64.Ger(-1, u, au, a)
	}
	for i := range m { // equal to the last bit across the diagonal
		for j := range i {
			a.Data[i*m+j] = a.Data[j*m+i]
		}
	}
	return a
}

func TestThinEigenEqualsScatter(t *testing.T) {
	x := decaying(40, 120, 4)
	copy(x.Data[:120], x.Data[120:240]) // two equal rows: rank 39
	a := must.Get(Solver{}.Scatter(x))(t)
	e := must.Get(Solver{}.ThinEigen(x, 60, 1))(t)
	if len(e.Values) != 39 || e.Vectors.Rows != 39 {
		t.Fatalf("%d values, %d vectors; the rank is 39", len(e.Values), e.Vectors.Rows)
	}
	checkPairs(t, a, e, 1e-10)
	none, err := Solver{}.ThinEigen(dense.New(3, 7), 2, 2)
	if err != nil || len(none.Values) != 0 || none.Vectors.Rows != 0 {
		t.Errorf("zero rows: %v, %v", none, err)
	}
}

func TestInverseCholesky(t *testing.T) {
	a := must.Get(Solver{}.Scatter(random64(50, 20, 5)))(t)
	inv := must.Get(InverseCholesky(Gonum{}, a))(t)
	la, white := dense.New(20, 20), dense.New(20, 20)
	MulTrans64(la, inv, a)
	MulTrans64(white, la, inv)
	for i, v := range white.Data {
		if want := map[bool]float64{true: 1}[i%21 == 0]; math.Abs(v-want) > 1e-10 {
			t.Fatalf("L⁻¹·a·L⁻ᵀ at %d = %g", i, v)
		}
	}
	a.Data[0] = -1
	var notPSD *NotPSDError
	if _, err := InverseCholesky(Gonum{}, a); !errors.As(err, &notPSD) || notPSD.Order != 20 {
		t.Errorf("indefinite matrix: %v", err)
	}
	if CheckPSD(a, 0.5) == nil || CheckPSD(dense.New(3, 3), 1) != nil {
		t.Error("CheckPSD is wrong")
	}
}

func BenchmarkMulTrans32(b *testing.B) {
	x, y, dst := to32(random64(256, 640, 1)), to32(random64(20000, 640, 2)), dense.New32(256, 20000)
	b.Run("n=256_d=640_K=20000", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, (Backend{}).MulTrans(dst, x, y))
		}
		b.ReportMetric(2*256*640*20000*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	})
}

func BenchmarkTopEigen(b *testing.B) {
	for _, m := range []int{500, 640, 1280} {
		a := must.Get(Solver{}.Scatter(decaying(2*m, m, 3)))(b)
		b.Run(fmt.Sprintf("m=%d_q=20", m), func(b *testing.B) {
			for b.Loop() {
				must.Get(TopEigen(a, 20))(b)
			}
		})
	}
}
