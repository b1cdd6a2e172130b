package dkl_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A problem is a head, a softmax on top, and a labelled batch.
type problem struct {
	head    *dkl.Projection
	softmax *dkl.Softmax
	x       blas64.General
	y       []int

	gradHead, gradSoftmax []float64
	gradX, gradZ          blas64.General
}

func newProblem(t *testing.T, v variant, n, classes int) *problem {
	t.Helper()
	softmax := must.Get(dkl.NewSoftmax(v.cfg.Dim, classes))(t)
	p := &problem{head: newHead(t, v.in, v.cfg), softmax: softmax, x: normal(n, v.in, 1, 21), y: make([]int, n)}
	for i := range p.y {
		p.y[i] = (i * i) % classes
	}
	p.gradHead = make([]float64, len(p.head.Theta()))
	p.gradSoftmax = make([]float64, len(softmax.Theta()))
	p.gradX, p.gradZ = dense.New(n, v.in), dense.New(n, v.cfg.Dim)
	return p
}

// loss returns phase 1's loss and leaves its gradients in p.
func (p *problem) loss(t *testing.T) float64 {
	t.Helper()
	loss := must.Get(p.softmax.Loss(p.gradSoftmax, p.gradZ, forward(t, p.head, p.x), p.y))(t)
	must.Do(t, p.head.Backward(p.gradHead, p.gradX, p.x, p.gradZ))
	return loss
}

// Central differences of the whole chain, for every parameter and every input.
func TestGradientsAgainstCentralDifferences(t *testing.T) {
	for name, v := range variants {
		p := newProblem(t, v, 6, 4)
		scatter(p.head.Theta(), 0.6, 31)
		scatter(p.softmax.Theta(), 0.6, 32)
		state := saved(t, p.head)
		for i := range p.x.Rows {
			if _, kink := byHand(state, v.in, v.cfg, p.x.Data[i*v.in:(i+1)*v.in]); kink < 1e-3 {
				t.Fatalf("%s: row %d is %g from the kink of a ReLU; choose another seed", name, i, kink)
			}
		}
		p.loss(t)
		for what, pair := range map[string][2][]float64{
			"θ":       {p.head.Theta(), append([]float64{}, p.gradHead...)},
			"V and c": {p.softmax.Theta(), append([]float64{}, p.gradSoftmax...)},
			"x":       {p.x.Data, append([]float64{}, p.gradX.Data...)},
		} {
			checkGradient(t, name+", "+what, p, pair[0], pair[1])
		}
	}
}

func checkGradient(t *testing.T, what string, p *problem, at, gradient []float64) {
	t.Helper()
	const step = 2e-5
	var norm float64
	for _, g := range gradient {
		norm = max(norm, math.Abs(g))
	}
	for i, g := range gradient {
		old := at[i]
		at[i] = old + step
		up := p.loss(t)
		at[i] = old - step
		down := p.loss(t)
		at[i] = old
		// the difference itself is good to some 1e-11 of the loss
		if diff := (up - down) / (2 * step); math.Abs(diff-g) > 1e-7*math.Abs(g)+1e-9*norm+1e-11 {
			t.Errorf("%s: derivative %d is %.12g, differences say %.12g", what, i, g, diff)
		}
	}
}

// The gradient is zero at and below the kink: nothing flows through a dead unit.
func TestReLUDerivativeAtZero(t *testing.T) {
	h := newHead(t, 2, dkl.Config{Dim: 1, Hidden: 3})
	// U x + a = (0, −1, 1) at x = (1, 1); W = (1, 1, 1)
	copy(h.Theta(), []float64{1, -1, -1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0.5})
	x := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 1}}
	if z := forward(t, h, x); z.Data[0] != 1.5 {
		t.Fatalf("z = %g", z.Data[0])
	}
	theta, gradX := make([]float64, 13), dense.New(1, 2)
	must.Do(t, h.Backward(theta, gradX, x, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{2}}))
	if got := fmt.Sprint(theta, gradX.Data); got != "[0 0 0 0 2 2 0 0 2 0 0 2 2] [2 0]" {
		t.Errorf("gradients %s", got)
	}
}

func TestSmallFullBatchStepLowersTheLoss(t *testing.T) {
	for name, v := range variants {
		p := newProblem(t, v, 12, 3)
		scatter(p.softmax.Theta(), 0.3, 5)
		loss := p.loss(t)
		for step := range 20 {
			const rate = 0.01
			blas64.Axpy(-rate, vector(p.gradHead), vector(p.head.Theta()))
			blas64.Axpy(-rate, vector(p.gradSoftmax), vector(p.softmax.Theta()))
			next := p.loss(t)
			if next >= loss {
				t.Errorf("%s: step %d took the loss from %g to %g", name, step, loss, next)
			}
			loss = next
		}
	}
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Data: v, Inc: 1} }

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct{ n, d, dim, hidden int }{
		{128, 192, 512, 0}, {128, 640, 512, 0}, {128, 640, 512, 512}, {256, 640, 1024, 0},
	} {
		b.Run(fmt.Sprintf("n=%d_d=%d_H=%d_D=%d_C=60", c.n, c.d, c.hidden, c.dim), func(b *testing.B) {
			benchmarkStep(b, c.n, c.d, dkl.Config{Dim: c.dim, Hidden: c.hidden})
		})
	}
}

func benchmarkStep(b *testing.B, n, d int, cfg dkl.Config) {
	h := must.Get(dkl.New(d, cfg))(b)
	softmax := must.Get(dkl.NewSoftmax(cfg.Dim, 60))(b)
	x, z, gradZ, y := normal(n, d, 1, 1), dense.New(n, cfg.Dim), dense.New(n, cfg.Dim), make([]int, n)
	gradSoftmax, gradHead := make([]float64, len(softmax.Theta())), make([]float64, len(h.Theta()))
	for b.Loop() {
		must.Do(b, h.Forward(z, x))
		must.Get(softmax.Loss(gradSoftmax, gradZ, z, y))(b)
		must.Do(b, h.Backward(gradHead, blas64.General{}, x, gradZ))
	}
}
