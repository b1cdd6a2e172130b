package vargp

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// grown returns a model of many heads in the middle of its last task, of which
// some came later than the first task, and the one before.
func grown(t testing.TB, c Config, M, d int) (m, old *Model) {
	t.Helper()
	m = must.Get(New(c, d, 1, 3))(t)
	for task := range 3 {
		for range 5 {
			m.Split(0)
		}
		old = m.Clone()
		var inputs []blas64.General
		for g := range m.groups {
			inputs = append(inputs, normals(M, d, 1, uint64(10*task+g)))
		}
		must.Do(t, m.extend(inputs))
		first := len(m.groups[0].blocks) - 1
		p := m.pack(first)
		for i, v := range normals(1, len(p), 0.05, uint64(50+task)).Data {
			p[i] += v
		}
		m.unpack(p, first)
		m.tasks++
	}
	m.tasks--
	return m, old
}

func manyExamples(n, d, heads int) batch {
	b := batch{x: normals(n, d, 1, 7), scale: 2}
	for i := range n {
		b.y = append(b.y, i%heads)
	}
	return b
}

// TestBackendsAgree: matrices large enough for the libraries give the bound, the
// gradient and the predictions that gonum gives.
func TestBackendsAgree(t *testing.T) {
	for v, M := range map[Variant]int{Full: 40, BlockDiagonal: 50, Global: 50, Retrain: 40} { // packed and not
		t.Run(string(v), func(t *testing.T) {
			m, old := grown(t, testConfig(v, false), M, 40)
			b := manyExamples(70, 40, m.Heads())
			want, wantGradient := must.Get2(newProblem(m, old).evaluate(context.Background(), b, fixed))(t)
			lp := logProb(t, done(m), b.x)
			nativetest.Each(t, func(t *testing.T, on linalg.Backend) {
				got, gradient := must.Get2(newProblem(m.On(on), old).evaluate(context.Background(), b, fixed))(t)
				if a, b := got.loss(1), want.loss(1); math.Abs(a-b) > 1e-9*math.Abs(b) {
					t.Errorf("bound %g, gonum %g", a, b)
				}
				if off, size := distance(gradient, wantGradient); off > 1e-8*size {
					t.Errorf("the gradient is off by %g of %g", off, size)
				}
				if off, _ := distance(logProb(t, done(m).On(on), b.x).Data, lp.Data); off > 1e-7 {
					t.Errorf("log-probabilities are off by %g", off)
				}
			})
		})
	}
}

// done is the model after its task.
func done(m *Model) *Model {
	c := m.Clone()
	c.tasks++
	return c
}

func distance(a, b []float64) (off, size float64) {
	for i, v := range b {
		off, size = max(off, math.Abs(a[i]-v)), max(size, math.Abs(v))
	}
	return off, size
}

// TestPackIsEachHeadOnItsOwn: heads in one product, with clones among them, are
// heads one after the other.
func TestPackIsEachHeadOnItsOwn(t *testing.T) {
	var chol []blas64.General
	for h := range 7 {
		l := normals(4, 4, 1, uint64(h%3))
		for i := range 4 {
			clear(l.Data[i*4+i+1 : i*4+4])
		}
		chol = append(chol, l)
	}
	b, out := normals(6, 4, 1, 9), dense.New(6, 7)
	p := packOf(block{z: dense.New(4, 1), chol: chol})
	if err := p.rowwise(linalg.Backend{}, out, b); err != nil || p.rows.Value.Rows != 3 {
		t.Fatalf("%d different heads, %v", p.rows.Value.Rows, err)
	}
	for h, l := range chol {
		half := dense.New(6, 4)
		linalg.MulTrans64(half, b, dense.Transposed(l))
		for r, want := range squares(half) {
			if got := out.Data[r*7+h]; math.Abs(got-want) > 1e-12*want {
				t.Errorf("head %d, row %d: %g, want %g", h, r, got, want)
			}
		}
	}
}

// TestProbabilitiesOrTheirLogarithms: draws are added as probabilities, or as
// logarithms where those underflow, to the same answer.
func TestProbabilitiesOrTheirLogarithms(t *testing.T) {
	f := normals(40, 5, 3, 8)
	p, lp := make([]float64, 5), make([]float64, 5)
	for h := range lp {
		lp[h] = math.Inf(-1)
	}
	for i := range f.Rows {
		addLogSoftmax(lp, dense.Row(f, i))
		addSoftmax(p, dense.Row(f, i))
	}
	for h := range p {
		if d := math.Abs(math.Log(p[h]) - lp[h]); d > 1e-12 {
			t.Errorf("function %d: %g by probabilities, %g by logarithms", h, math.Log(p[h]), lp[h])
		}
	}
	m := must.Get(New(quick(Full, false), 2, 2, 1))(t)
	learn(t, m, task(m, 10, 5, 0, 1))
	for i := range m.groups[0].blocks[0].mean.Data {
		m.groups[0].blocks[0].mean.Data[i] *= 1e4
	}
	x := task(m, 2, 2, 0, 1).X
	for i, v := range logProb(t, m, x).Data {
		if math.IsInf(v, 0) || math.IsNaN(v) || v > 0 {
			t.Errorf("log-probability %d of functions far apart is %g", i, v)
		}
	}
}
