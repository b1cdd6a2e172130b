package gpr_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp/gpr"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// step does one random operation on both.
func step(t *testing.T, rng *rand.Rand, m *model, r *gpr.Regression) string {
	t.Helper()
	n, k := len(m.x), 1+rng.IntN(4)
	if rng.IntN(40) == 0 {
		k = 40
	}
	k = min(k, max(1, n/2))
	some := rng.Perm(n)[:min(k, n)]
	operation := rng.IntN(6)
	if n < 60 {
		operation = 0
	}
	if n > 150 {
		operation = 1
	}
	var err error
	switch operation {
	case 0:
		x, y := random(rng, k, 3), random(rng, k, len(m.t[0]))
		m.x, m.t = append(m.x, x...), append(m.t, y...)
		err = r.Add(context.Background(), denseOf(x), denseOf(y))
	case 1:
		err = r.Remove(context.Background(), some)
		gone := slices.Sorted(slices.Values(some))
		for i := len(gone) - 1; i >= 0; i-- {
			m.x, m.t = slices.Delete(m.x, gone[i], gone[i]+1), slices.Delete(m.t, gone[i], gone[i]+1)
		}
	case 2:
		x := random(rng, len(some), 3)
		for i, e := range some {
			m.x[e] = x[i]
		}
		err = r.SetInputs(context.Background(), some, denseOf(x))
	case 3:
		y := random(rng, len(some), len(m.t[0]))
		for i, e := range some {
			m.t[e] = y[i]
		}
		err = r.SetTargets(context.Background(), some, denseOf(y))
	case 4:
		y := random(rng, n, 1)
		for i := range m.t {
			m.t[i] = append(m.t[i], y[i]...)
		}
		err = r.AddOutputs(context.Background(), denseOf(y))
	case 5:
		if C := len(m.t[0]); C > 2 {
			c := rng.IntN(C)
			for i := range m.t {
				m.t[i] = slices.Delete(slices.Clone(m.t[i]), c, c+1)
			}
			err = r.RemoveOutputs([]int{c})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("operation ", operation, " of ", k)
}

// TestThousandOperations: after any sequence of operations the state is that
// of a batch fit.
func TestThousandOperations(t *testing.T) {
	for _, method := range methods() {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			m := newModel(1, 100, 3, 3)
			r := fresh(t, method, m)
			rng := rand.New(rand.NewPCG(7, 7))
			for i := range 1000 {
				what := step(t, rng, m, r)
				if i%50 == 49 {
					m.same(t, fmt.Sprintf("step %d, %s", i, what), r, 1e-8)
				}
			}
			drift, err := r.Drift(context.Background())
			if err != nil || drift > 1e-10 || r.Refreshes() != 0 {
				t.Errorf("drift %g, %d refreshes, %v", drift, r.Refreshes(), err)
			}
			t.Logf("%d examples, %d outputs, drift %.2g", r.Len(), r.Outputs(), drift)
		})
	}
}

// TestEveryOperationAtTileBorders: sizes on either side of a tile, one and
// many examples, all of them.
func TestEveryOperationAtTileBorders(t *testing.T) {
	for _, method := range methods() {
		for _, n := range []int{1, 2, 63, 64, 65, 130} {
			for _, k := range []int{1, 5, n} {
				if k > n {
					continue
				}
				m := newModel(uint64(n), n, 2, 2)
				r := fresh(t, method, m)
				m.same(t, fmt.Sprintf("%s: %d", method, n), r, 1e-9)
				rng := rand.New(rand.NewPCG(1, uint64(k)))
				x, y := random(rng, k, 2), random(rng, k, 2)
				must.Do(t, r.SetInputs(context.Background(), rng.Perm(n)[:0],
					blas64.General{Cols: 2, Stride: 2}))
				some := rng.Perm(n)[:k]
				for i, e := range some {
					m.x[e] = x[i]
				}
				must.Do(t, r.SetInputs(context.Background(), some, denseOf(x)))
				m.same(t, fmt.Sprintf("%s: %d of %d changed", method, k, n), r, 1e-9)
				m.x, m.t = append(m.x, x...), append(m.t, y...)
				must.Do(t, r.Add(context.Background(), denseOf(x), denseOf(y)))
				m.same(t, fmt.Sprintf("%s: %d added to %d", method, k, n), r, 1e-9)
				must.Do(t, r.Remove(context.Background(), dense.Range(0, n)))
				m.x, m.t = m.x[n:], m.t[n:]
				m.same(t, fmt.Sprintf("%s: %d removed", method, n), r, 1e-9)
			}
		}
	}
}

// TestRemovingAll: the regression then predicts the prior and can start again, in
// another dimension.
func TestRemovingAll(t *testing.T) {
	for _, method := range methods() {
		r := fresh(t, method, newModel(1, 5, 2, 2))
		must.Do(t, r.Remove(context.Background(), []int{4, 0, 2, 1, 3}))
		v := make([]float64, 1)
		if err := r.Variance(v, denseOf([][]float64{{1, 2}})); err != nil || v[0] != 1.75 || r.Len()+r.Dim()+
			r.Outputs() != 0 {
			t.Errorf("%s: variance %v, %d examples, %v", method, v, r.Len(), err)
		}
		m := newModel(2, 7, 4, 1)
		must.Do(t, r.Add(context.Background(), denseOf(m.x), denseOf(m.t)))
		m.same(t, string(method), r, 1e-9)
	}
}

// TestDuplicates: the same input many times is only noise averaged.
func TestDuplicates(t *testing.T) {
	for _, method := range methods() {
		m := newModel(1, 40, 2, 1)
		for i := range m.x {
			m.x[i] = m.x[i/20*20]
		}
		r := fresh(t, method, m)
		m.same(t, string(method), r, 1e-9)
		m.x, m.t = append(m.x, m.x[0], m.x[0]), append(m.t, []float64{1}, []float64{-1})
		must.Do(t, r.Add(context.Background(), denseOf(m.x[40:]), denseOf(m.t[40:])))
		m.same(t, string(method), r, 1e-9)
	}
}

// TestTinyNoiseIsRefused: with a second copy of an input there is no inverse; the
// state stays as it was to the last bit.
func TestTinyNoiseIsRefused(t *testing.T) {
	for _, method := range methods() {
		m := newModel(1, 70, 30, 1)
		m.noise = 1e-14
		r := fresh(t, method, m)
		must.Do(t, r.SetInputs(context.Background(), []int{3}, denseOf(m.x[3:4])))
		before, loo := slices.Clone(r.Alpha().Data), leaveOneOut(t, r)
		var bad *gpr.NotPSDError
		others := random(rand.New(rand.NewPCG(8, 8)), 30, 30)
		for name, err := range map[string]error{
			"add": r.Add(context.Background(), denseOf(m.x[5:6]), denseOf(m.t[5:6])),
			"add many": r.Add(context.Background(), denseOf(append(others, m.x[5])),
				denseOf(random(rand.New(rand.NewPCG(1, 1)), 31, 1))),
			"set inputs": r.SetInputs(context.Background(), []int{1, 2}, denseOf([][]float64{m.x[7], m.x[8]})),
			"fit": fresh(t, method, &model{kernel: m.kernel, noise: m.noise}).Add(context.Background(),
				denseOf([][]float64{{1}, {1}}), denseOf([][]float64{{1}, {1}})),
		} {
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), "raise the noise") {
				t.Errorf("%s, %s: %v", method, name, err)
			}
		}
		if !slices.Equal(before, r.Alpha().Data) || !slices.Equal(loo.Data, leaveOneOut(t, r).Data) || r.Len() != 70 {
			t.Errorf("%s: changed by what was refused", method)
		}
		m.same(t, string(method), r, 1e-6)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	one := [][]float64{{1, 2}}
	for _, method := range methods() {
		r := fresh(t, method, newModel(1, 4, 2, 2))
		before := slices.Clone(r.Alpha().Data)
		var index *gpr.IndexError
		for name, err := range map[string]error{
			"remove 4":        r.Remove(context.Background(), []int{4}),
			"remove -1":       r.Remove(context.Background(), []int{-1}),
			"remove twice":    r.Remove(context.Background(), []int{1, 0, 1}),
			"remove output":   r.RemoveOutputs([]int{2}),
			"set inputs of 9": r.SetInputs(context.Background(), []int{9}, denseOf(one)),
			"set targets":     r.SetTargets(context.Background(), []int{0, 4}, denseOf([][]float64{{1, 2}, {3, 4}})),
		} {
			if !errors.As(err, &index) {
				t.Errorf("%s, %s: %v", method, name, err)
			}
		}
		nan := [][]float64{{math.NaN(), 1}}
		for name, err := range map[string]error{
			"wide input":      r.Add(context.Background(), denseOf([][]float64{{1, 2, 3}}), denseOf(one)),
			"few targets":     r.Add(context.Background(), denseOf([][]float64{{1, 2}, {3, 4}}), denseOf(one)),
			"fewer outputs":   r.Add(context.Background(), denseOf(one), denseOf([][]float64{{1}})),
			"NaN input":       r.Add(context.Background(), denseOf(nan), denseOf(one)),
			"NaN target":      r.Add(context.Background(), denseOf(one), denseOf(nan)),
			"NaN set":         r.SetInputs(context.Background(), []int{1}, denseOf(nan)),
			"NaN set targets": r.SetTargets(context.Background(), []int{1}, denseOf(nan)),
			"short outputs":   r.AddOutputs(context.Background(), denseOf(one)),
			"malformed": r.Add(context.Background(),
				blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 3)}, denseOf(one)),
			"room": r.Variance(nil, denseOf(one)),
			"width of mean": r.Mean(blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: make([]float64, 2)},
				denseOf([][]float64{{1}})),
		} {
			if err == nil {
				t.Errorf("%s, %s: was accepted", method, name)
			}
		}
		if !slices.Equal(before, r.Alpha().Data) || r.Len() != 4 {
			t.Errorf("%s: changed by what was refused", method)
		}
	}
	for _, c := range []gpr.Config{{Method: "fast", Noise: 1}, {Method: gpr.Direct},
		{Method: gpr.Direct, Noise: math.NaN()}} {
		if _, err := gpr.New(gpr.Linear{Outputscale: 1}, c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestCoresAndBatchesMakeNoDifference, to the last bit.
func TestCoresAndBatchesMakeNoDifference(t *testing.T) {
	for _, method := range methods() {
		run := func() (*gpr.Regression, []float64) {
			m := newModel(4, 150, 3, 3)
			r := fresh(t, method, m)
			rng := rand.New(rand.NewPCG(2, 2))
			for range 60 {
				step(t, rng, m, r)
			}
			return r, slices.Concat(r.Alpha().Data, leaveOneOut(t, r).Data)
		}
		r, want := run()
		cores := runtime.GOMAXPROCS(1)
		_, got := run()
		runtime.GOMAXPROCS(cores)
		if !slices.Equal(got, want) {
			t.Errorf("%s: one core gives other bits", method)
		}
		q := denseOf(random(rand.New(rand.NewPCG(9, 9)), 70, 3))
		all, one := make([]float64, 70), make([]float64, 1)
		must.Do(t, r.Variance(all, q))
		for _, i := range []int{0, 31, 32, 69} {
			row := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: q.Data[3*i : 3*i+3]}
			if err := r.Variance(one, row); err != nil || one[0] != all[i] {
				t.Errorf("%s: variance %d alone is %g, among others %g, %v", method, i, one[0], all[i], err)
			}
		}
	}
}

// TestCloneIsApart: a clone is independent and continues from the original.
func TestCloneIsApart(t *testing.T) {
	for _, method := range methods() {
		m := newModel(1, 20, 2, 2)
		r := fresh(t, method, m)
		must.Do(t, r.Add(context.Background(), denseOf(m.x[:2]), denseOf(m.t[:2])))
		before := slices.Clone(r.Alpha().Data)
		c := r.Clone()
		if err := errors.Join(c.Remove(context.Background(), []int{0, 1}), c.Add(context.Background(), denseOf(m.x[:9]),
			denseOf(m.t[:9])), c.SetTargets(context.Background(), []int{0}, denseOf(m.t[:1]))); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(before, r.Alpha().Data) || r.Len() != 22 {
			t.Errorf("%s: the original changed", method)
		}
		m.x, m.t = append(m.x, m.x[:2]...), append(m.t, m.t[:2]...)
		m.same(t, string(method), r, 1e-9)
	}
}

// TestRestore continues from the snapshot, to the last bit, and rejects parts that
// do not belong together.
func TestRestore(t *testing.T) {
	for _, method := range methods() {
		m := newModel(1, 80, 3, 2)
		r := fresh(t, method, m)
		rng := rand.New(rand.NewPCG(6, 6))
		for range 20 {
			step(t, rng, m, r)
		}
		r.Fold()
		cfg := gpr.Config{Method: method, Noise: m.noise}
		back := must.Get(gpr.Restore(m.kernel, cfg, denseOf(m.x), denseOf(m.t), r.Snapshot()))(t)
		other := &model{m.kernel, m.noise, slices.Clone(m.x), slices.Clone(m.t)}
		one, two := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
		for range 20 {
			step(t, one, m, r)
			step(t, two, other, back)
		}
		if a, b := r.Snapshot(), back.Snapshot(); !slices.Equal(a.Factor, b.Factor) ||
			!slices.Equal(a.Alpha.Data, b.Alpha.Data) || !slices.Equal(a.Diagonal, b.Diagonal) {
			t.Errorf("%s: differs after it was restored", method)
		}
		for name, forge := range map[string]func(*gpr.Snapshot){
			"factor":   func(s *gpr.Snapshot) { s.Factor[1] += 0.3 },
			"NaN":      func(s *gpr.Snapshot) { s.Factor[0] = math.NaN() },
			"short":    func(s *gpr.Snapshot) { s.Factor = s.Factor[1:] },
			"order":    func(s *gpr.Snapshot) { s.Order[0] = s.Order[1] },
			"outside":  func(s *gpr.Snapshot) { s.Order[0] = -1 },
			"alpha":    func(s *gpr.Snapshot) { s.Alpha.Data[0] += 0.3 },
			"diagonal": func(s *gpr.Snapshot) { s.Diagonal[0] = 0 },
			"examples": func(s *gpr.Snapshot) { s.Diagonal = s.Diagonal[1:] },
		} {
			s := r.Snapshot()
			forge(&s)
			if _, err := gpr.Restore(m.kernel, cfg, denseOf(m.x), denseOf(m.t), s); err == nil {
				t.Errorf("%s, %s: was restored", method, name)
			}
		}
	}
}

// TestMemoryIsAsStated: half a matrix and a little more.
func TestMemoryIsAsStated(t *testing.T) {
	for _, method := range methods() {
		r := fresh(t, method, newModel(1, 1000, 4, 3))
		stated := 4*1000*1000 + 256*1000 + 8*1000*4 + 16*1000*3
		if got := r.Bytes(); float64(got) > 1.1*float64(stated) {
			t.Errorf("%s: %d bytes, stated %d", method, got, stated)
		}
	}
}

// TestLinearKernel equals ridge regression: (XᵀX+σ²I)⁻¹Xᵀt.
func TestLinearKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x, y := random(rng, 50, 3), random(rng, 50, 1)
	r := must.Get(gpr.New(gpr.Linear{Outputscale: 1}, gpr.Config{Method: gpr.Direct, Noise: 0.3}))(t)
	must.Do(t, r.Add(context.Background(), denseOf(x), denseOf(y)))
	X := mat.NewDense(50, 3, denseOf(x).Data)
	var gram, right, w mat.Dense
	gram.Mul(X.T(), X)
	for j := range 3 {
		gram.Set(j, j, gram.At(j, j)+0.3)
	}
	right.Mul(X.T(), mat.NewDense(50, 1, denseOf(y).Data))
	must.Do(t, w.Solve(&gram, &right))
	got := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float64, 1)}
	must.Do(t, r.Mean(got, denseOf([][]float64{{1, 2, 3}})))
	near(t, "mean", got.Data[0], w.At(0, 0)+2*w.At(1, 0)+3*w.At(2, 0), 1e-10)
	v := make([]float64, 1)
	must.Do(t, r.Variance(v, denseOf([][]float64{{1, 2, 3}})))
	var inv mat.Dense
	must.Do(t, inv.Inverse(&gram))
	q := mat.NewVecDense(3, []float64{1, 2, 3})
	near(t, "variance", v[0], 0.3*mat.Inner(q, &inv, q)+0.3, 1e-10)
}
