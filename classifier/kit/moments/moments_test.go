package moments_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

const d = 12

// sample returns rows with offset mean, so that cancellation would be visible.
func sample(n int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := blas32.General{Rows: n, Cols: d, Stride: d + 1, Data: make([]float32, n*(d+1))}
	for i := range n {
		for j := range d {
			x.Data[i*(d+1)+j] = float32(30 + rng.NormFloat64()/float64(j+1))
		}
	}
	return x
}

func batch(t *testing.T, x blas32.General) *moments.Moments {
	t.Helper()
	m := moments.New(d)
	must.Do(t, m.Add(x))
	return m
}

// equal compares n, mean and covariance to 1e-8.
func equal(t *testing.T, what string, got, want *moments.Moments) {
	t.Helper()
	if got.N() != want.N() {
		t.Fatalf("%s: n = %d, want %d", what, got.N(), want.N())
	}
	a, b := got.Mean(), want.Mean()
	for j := range a {
		if math.Abs(a[j]-b[j]) > 1e-8 {
			t.Errorf("%s: mean %d = %g, want %g", what, j, a[j], b[j])
		}
	}
	if want.N() == 0 {
		return
	}
	ca := must.Get(got.Covariance())(t)
	cb := must.Get(want.Covariance())(t)
	for i := range ca.Data {
		if math.Abs(ca.Data[i]-cb.Data[i]) > 1e-8 {
			t.Errorf("%s: covariance at %d = %g, want %g", what, i, ca.Data[i], cb.Data[i])
		}
	}
}

func TestCovarianceEqualsDirect(t *testing.T) {
	for _, n := range []int{1, 2, d, d + 1, 40} {
		x := sample(n, 1)
		m := batch(t, x)
		if m.Thin() != (n <= d) {
			t.Errorf("n = %d: thin is %v", n, m.Thin())
		}
		mean, c := m.Mean(), must.Get(m.Covariance())(t)
		for a := range d {
			for b := range d {
				var want float64
				for i := range n {
					want += (float64(x.Data[i*x.Stride+a]) - mean[a]) * (float64(x.Data[i*x.Stride+b]) - mean[b])
				}
				want /= float64(max(n-1, 1))
				if math.Abs(c.Data[a*d+b]-want) > 1e-11 {
					t.Fatalf("n = %d: covariance (%d,%d) = %g, want %g", n, a, b, c.Data[a*d+b], want)
				}
			}
		}
	}
}

func TestStreamingBatchMergedAddRemoveAgree(t *testing.T) {
	for _, n := range []int{2, 7, d, d + 1, 30, 1100} {
		x := sample(n, 2)
		want := batch(t, x)
		stream := moments.New(d)
		for i := range n {
			must.Do(t, stream.Add(dense.Rows32(x, i, i+1)))
		}
		equal(t, fmt.Sprintf("streaming, n=%d", n), stream, want)
		for _, cut := range []int{0, 1, n / 2, n - 1} {
			left, right := batch(t, dense.Rows32(x, 0, cut)), batch(t, dense.Rows32(x, cut, n))
			must.Do(t, left.Merge(right))
			equal(t, fmt.Sprintf("merged at %d of %d", cut, n), left, want)
			both := want.Clone()
			if err := both.Remove(dense.Rows32(x, cut, n)); err != nil {
				t.Fatalf("n = %d, removing from %d: %v", n, cut, err)
			}
			equal(t, fmt.Sprintf("removed from %d of %d", cut, n), both, batch(t, dense.Rows32(x, 0, cut)))
		}
	}
}

// TestGiveIsAdd checks the thin form, the full form, and adding to existing
// examples.
func TestGiveIsAdd(t *testing.T) {
	for _, n := range []int{1, 5, d, d + 1, 40} {
		want, got := batch(t, sample(n, 2)), moments.New(d)
		tight := dense.Gather32(sample(n, 2), dense.Range(0, n))
		more := dense.Gather32(sample(3, 4), dense.Range(0, 3))
		for _, x := range []blas32.General{tight, more} {
			must.Do(t, got.Give(x))
		}
		must.Do(t, want.Add(sample(3, 4)))
		equal(t, fmt.Sprintf("given, n=%d", n), got, want)
	}
	bad := sample(1, 1)
	bad.Data[0] = float32(math.NaN())
	if m := moments.New(d); m.Give(dense.Gather32(bad, []int{0})) == nil || m.N() != 0 {
		t.Error("NaN was taken")
	}
}

func TestRemoveRefusesWhatWasNotThere(t *testing.T) {
	far := sample(1, 9)
	far.Data[0] = 1e4
	for _, n := range []int{1, 5, 40} {
		m := batch(t, sample(n, 3))
		before := m.Tensors()
		strangers := map[string]blas32.General{"far": far, "too many": sample(n+1, 3), "as many": sample(n, 4)}
		for name, x := range strangers {
			if err := m.Remove(x); !errors.Is(err, moments.ErrRemove) {
				t.Errorf("n = %d, %s: %v", n, name, err)
			}
		}
		if !reflect.DeepEqual(before, m.Tensors()) {
			t.Errorf("n = %d: a refused removal changed the statistics", n)
		}
	}
}

func TestRemoveDownToOneAndNone(t *testing.T) {
	x := sample(40, 5)
	m := batch(t, x)
	must.Do(t, m.Remove(dense.Rows32(x, 1, 40)))
	c := must.Get(m.Covariance())(t)
	for _, v := range c.Data {
		if v != 0 {
			t.Fatalf("one example left, covariance %g", v)
		}
	}
	if err := m.Remove(dense.Rows32(x, 0, 1)); err != nil || m.N() != 0 {
		t.Errorf("last example: n = %d, %v", m.N(), err)
	}
	if _, err := m.Covariance(); err == nil {
		t.Error("covariance of nothing")
	}
}

func TestThinRemovalHonoursMultiplicity(t *testing.T) {
	x := sample(1, 6)
	m := moments.New(d)
	for range 3 {
		must.Do(t, m.Add(x))
	}
	twice := blas32.General{Rows: 2, Cols: d, Stride: d,
		Data: append(append([]float32{}, x.Data[:d]...), x.Data[:d]...)}
	if err := m.Remove(twice); err != nil || m.N() != 1 {
		t.Fatalf("n = %d, %v", m.N(), err)
	}
	if err := m.Remove(twice); !errors.Is(err, moments.ErrRemove) {
		t.Errorf("removing two of one: %v", err)
	}
}

func TestTopEigenReconstructsCovariance(t *testing.T) {
	for _, n := range []int{1, 2, 5, d, 60} {
		m := batch(t, sample(n, 7))
		e := must.Get(m.TopEigen(100))(t)
		if want := min(n-1, d); len(e.Values) != want {
			t.Fatalf("n = %d: %d components, want %d", n, len(e.Values), want)
		}
		c := must.Get(m.Covariance())(t)
		for a := range d {
			for b := range d {
				got := 0.0
				for k, v := range e.Values {
					got += v * e.Vectors.Data[k*d+a] * e.Vectors.Data[k*d+b]
				}
				if math.Abs(got-c.Data[a*d+b]) > 1e-10 {
					t.Fatalf("n = %d: (%d,%d) = %g, want %g", n, a, b, got, c.Data[a*d+b])
				}
			}
		}
	}
}

func TestDuplicatesAndConstantsHaveNoComponents(t *testing.T) {
	for _, n := range []int{2, 5, 50} {
		x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		for i := range x.Data {
			x.Data[i] = 0.1 * float32(i%d)
		}
		if e := must.Get(batch(t, x).TopEigen(5))(t); len(e.Values) != 0 {
			t.Errorf("n = %d equal rows: values %v", n, e.Values)
		}
	}
}

func TestTensorsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 3, 40} {
		m := batch(t, sample(n, 8))
		back := must.Get(moments.FromTensors(d, m.Tensors()))(t)
		if !reflect.DeepEqual(back.Tensors(), m.Tensors()) {
			t.Errorf("n = %d: statistics changed on the way", n)
		}
	}
	thin, full := batch(t, sample(3, 8)).Tensors(), batch(t, sample(40, 8)).Tensors()
	for name, bad := range map[string]map[string]classifier.Tensor{
		"nothing": {}, "width": {"rows": {Shape: []int{1, 3}, F32: []float32{1, 2, 3}}},
		"short":   {"rows": {Shape: []int{3, d}, F32: thin["rows"].F32[:5]}},
		"no mean": {"n": full["n"], "m2": full["m2"]}, "no m2": {"n": full["n"], "mean": full["mean"]},
		"negative": {"n": {Shape: []int{1}, I64: []int64{-1}}, "mean": full["mean"], "m2": full["m2"]},
	} {
		if _, err := moments.FromTensors(d, bad); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := moments.FromTensors(-1, thin); err == nil {
		t.Error("dimension −1 was accepted")
	}
}

func TestAddRefusesAndKeepsNoReference(t *testing.T) {
	m := moments.New(d)
	x := sample(2, 1)
	x.Data[d+1] = float32(math.Inf(1))
	var bad *classifier.NotFiniteError
	if err := m.Add(x); !errors.As(err, &bad) || bad.Row != 1 || m.N() != 0 {
		t.Errorf("infinity: %v, n = %d", err, m.N())
	}
	if err := m.Merge(moments.New(d + 1)); err == nil {
		t.Error("merged with another dimension")
	}
	good := sample(2, 1)
	m = batch(t, good)
	want := m.Mean()
	clear(good.Data)
	if !reflect.DeepEqual(m.Mean(), want) {
		t.Error("the statistics share memory with their input")
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, c := range []struct{ n, d int }{{500, 192}, {1300, 640}} {
		x := blas32.General{Rows: c.n, Cols: c.d, Stride: c.d, Data: make([]float32, c.n*c.d)}
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		b.Run(fmt.Sprintf("n=%d_d=%d", c.n, c.d), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, moments.New(c.d).Add(x))
			}
		})
	}
}

// TestTopEigenFarFromZero checks that examples around a mean a thousand times
// their spread have the same components as around zero: they are centred in
// float64 first, although directions need only float32 precision.
func TestTopEigenFarFromZero(t *testing.T) {
	const n, d, q = 150, 300, 10
	rng := rand.New(rand.NewPCG(4, 4))
	near, far := dense.New32(n, d), dense.New32(n, d)
	for i := range near.Data { // sums that float32 holds exactly
		near.Data[i] = float32(math.Round(rng.NormFloat64()*4096/math.Sqrt(float64(i%d+1)))) / 4096
		far.Data[i] = near.Data[i] + 1024
	}
	want := topEigen(t, near, q)
	for i, v := range topEigen(t, far, q).Values {
		if math.Abs(v-want.Values[i]) > 1e-9*want.Values[0] {
			t.Errorf("variance %d = %.12g, want %.12g", i, v, want.Values[i])
		}
	}
}

func topEigen(t *testing.T, x blas32.General, q int) linalg.Eigen {
	t.Helper()
	m := moments.New(x.Cols)
	must.Do(t, m.Add(x))
	return must.Get(m.TopEigen(q))(t)
}
