package autodiff_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/vargp/internal/autodiff"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

func random(rows, cols int, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := dense.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// lower is a triangle with a diagonal away from zero.
func lower(n int, seed uint64) blas64.General {
	m := random(n, n, seed)
	for i := range n {
		clear(dense.Row(m, i)[i+1:])
		m.Data[i*n+i] = 1 + math.Abs(m.Data[i*n+i])
	}
	return m
}

// must is for matrices that have a factor.
func must(v *autodiff.Var, err error) *autodiff.Var {
	if err != nil {
		panic(err)
	}
	return v
}

// TestGradients: every operation against central differences, in every element
// of every input. Sums weigh the elements of a result differently.
func TestGradients(t *testing.T) {
	weigh := func(gr *autodiff.Graph, v *autodiff.Var) *autodiff.Var {
		w := gr.Mul(autodiff.Constant(random(1, v.Value.Rows, 8)), v)
		return gr.Mul(w, autodiff.Constant(random(v.Value.Cols, 1, 9)))
	}
	for name, c := range map[string]struct {
		in []blas64.General
		do func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var
	}{
		"mul": {[]blas64.General{random(3, 4, 1), random(4, 2, 2)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Mul(in[0], in[1]) }},
		"transpose": {[]blas64.General{random(3, 4, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Transpose(in[0]) }},
		"cholesky": {[]blas64.General{random(4, 4, 1)}, func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var {
			return must(gr.Cholesky(gr.Mul(in[0], gr.Transpose(in[0])), 0.3))
		}},
		"solve": {[]blas64.General{lower(4, 1), random(4, 3, 2)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Solve(in[0], in[1]) }},
		"solve trans": {[]blas64.General{lower(4, 1), random(4, 3, 2)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.SolveTrans(in[0], in[1]) }},
		"blocks": {[]blas64.General{random(5, 5, 1)}, func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var {
			return gr.BlockDiagonal(in[0], []int{2, 3})
		}},
		"block": {[]blas64.General{random(5, 4, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Block(in[0], 1, 2, 3, 2) }},
		"stack": {[]blas64.General{random(2, 3, 1), random(1, 3, 2)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Stack(in...) }},
		"add": {[]blas64.General{random(2, 3, 1), random(2, 3, 2)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Add(in[0], -2, in[1]) }},
		"twice": {[]blas64.General{random(2, 2, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Mul(in[0], in[0]) }},
		"scale": {[]blas64.General{random(2, 3, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Scale(3, in[0]) }},
		"sum": {[]blas64.General{random(2, 3, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.Sum(in[0]) }},
		"squares": {[]blas64.General{random(2, 3, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.SumSquares(in[0]) }},
		"diagonal": {[]blas64.General{lower(4, 1)},
			func(gr *autodiff.Graph, in []*autodiff.Var) *autodiff.Var { return gr.LogDiagonal(in[0], 1, 3) }},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() (*autodiff.Graph, []*autodiff.Var, *autodiff.Var) {
				gr := &autodiff.Graph{}
				var in []*autodiff.Var
				for _, m := range c.in {
					in = append(in, autodiff.Variable(m))
				}
				return gr, in, weigh(gr, c.do(gr, in))
			}
			gr, in, out := run()
			gr.Backward(out)
			for k, m := range c.in {
				for i, old := range m.Data {
					if name != "cholesky" && m.Rows == m.Cols && old == 0 {
						continue // above the diagonal of a triangle
					}
					const h = 1e-5
					m.Data[i] = old + h
					_, _, up := run()
					m.Data[i] = old - h
					_, _, down := run()
					m.Data[i] = old
					want := (up.Number() - down.Number()) / (2 * h)
					if got := in[k].Grad().Data[i]; math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
						t.Errorf("input %d, element %d: %.10g, central difference %.10g", k, i, got, want)
					}
				}
			}
		})
	}
}

// TestConstantsCostNothing: nothing is recorded if no derivative is needed.
func TestConstantsCostNothing(t *testing.T) {
	gr := &autodiff.Graph{}
	a := autodiff.Constant(random(2, 2, 1))
	called := false
	v := gr.Op(random(1, 1, 1), func(blas64.General) { called = true }, gr.Mul(a, a))
	gr.Backward(v)
	if called || v.Needs() {
		t.Error("a constant was differentiated")
	}
}

func TestCholeskyRefuses(t *testing.T) {
	gr := &autodiff.Graph{}
	bad := dense.New(2, 2)
	bad.Data[0], bad.Data[3] = 1, -1
	var notPSD *linalg.NotPSDError
	if _, err := gr.Cholesky(autodiff.Constant(bad), 0.5); !errors.As(err, &notPSD) || notPSD.Order != 2 {
		t.Error(err)
	}
}

func ExampleGraph() {
	gr := &autodiff.Graph{}
	x := autodiff.Variable(blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{3, 4}})
	y := gr.SumSquares(x)
	gr.Backward(y)
	fmt.Println(y.Number(), x.Grad().Data)
	// Output: 25 [6 8]
}
