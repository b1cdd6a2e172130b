package vargp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// A size is that of a benchmark: heads, tasks, inducing inputs of each,
// dimensions and the batch.
type size struct{ heads, tasks, m, d, batch int }

func (s size) name() string {
	return fmt.Sprintf("H=%d/T=%d/M=%d/d=%d/B=%d", s.heads, s.tasks, s.m, s.d, s.batch)
}

// sized returns a model in the middle of its last task.
func sized(b *testing.B, v Variant, s size) (*Model, *Model) {
	b.Helper()
	c := DefaultConfig()
	c.Variant = v
	m := must.Get(New(c, s.d, s.heads, 5))(b)
	var old *Model
	for t := range s.tasks {
		old = m.Clone()
		must.Do(b, m.extend([]blas64.General{normals(s.m, s.d, 1, uint64(t))}))
		first := len(m.groups[0].blocks) - 1
		p := m.pack(first)
		for i, v := range normals(1, len(p), 0.01, uint64(100+t)).Data {
			p[i] += v // heads that differ
		}
		m.unpack(p, first)
		m.tasks++
	}
	m.tasks--
	return m, old
}

func benchmarkStep(b *testing.B, v Variant, s size) {
	m, old := sized(b, v, s)
	p := newProblem(m.On(nativetest.Open(b, native.Auto).Backend), old)
	data := batch{x: normals(s.batch, s.d, 1, 99), y: make([]int, s.batch), scale: 1}
	for i := range data.y {
		data.y[i] = i % s.heads
	}
	for b.Loop() {
		must.Get2(p.evaluate(context.Background(), data,
			func(s int) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(s))) }))(b)
	}
}

// BenchmarkStep is one step of three θ, by tasks, inducing inputs, heads,
// dimensions and batch around one size.
func BenchmarkStep(b *testing.B) {
	base := size{11, 3, 20, 192, 256}
	for _, change := range []func(*size){
		func(*size) {},
		func(s *size) { s.tasks = 1 }, func(s *size) { s.tasks = 5 }, func(s *size) { s.tasks = 10 },
		func(s *size) { s.m = 60 }, func(s *size) { s.heads = 61 }, func(s *size) { s.d = 784 },
		func(s *size) { s.batch = 512 },
		func(s *size) { s.heads, s.tasks, s.m = 61, 5, 36 }, func(s *size) { s.heads = 31 }, func(s *size) { s.m = 40 },
	} {
		s := base
		change(&s)
		b.Run(s.name(), func(b *testing.B) { benchmarkStep(b, Full, s) })
	}
}

// BenchmarkVariants is one step of each variant.
func BenchmarkVariants(b *testing.B) {
	for _, v := range Variants() {
		s := size{11, 3, 20, 192, 256}
		b.Run(string(v)+"/"+s.name(), func(b *testing.B) { benchmarkStep(b, v, s) })
	}
}

// BenchmarkPredict predicts 128 inputs.
func BenchmarkPredict(b *testing.B) {
	for _, s := range []size{{11, 1, 20, 192, 128}, {11, 5, 20, 192, 128}, {61, 5, 20, 192, 128}} {
		b.Run(s.name(), func(b *testing.B) {
			m, _ := sized(b, Full, s)
			m.tasks++
			q := must.Get(m.On(nativetest.Open(b, native.Auto).Backend).Predictor())(b)
			x, lp := normals(s.batch, s.d, 1, 98), dense.New(s.batch, s.heads)
			for b.Loop() {
				must.Do(b, q.LogProb(lp, x))
			}
		})
	}
}
