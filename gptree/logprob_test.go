package gptree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func normal(rows, cols int, scale float64, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := dense.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return m
}

// Equation 9, word for word.
func TestLogProbIsProductAlongThePath(t *testing.T) {
	tree := must.Get(gptree.RandomBalanced(11, 1))(t)
	f := normal(5, 10, 2, 2)
	dst := dense.New(5, 11)
	must.Do(t, tree.LogProb(dst, f))
	for i := range 5 {
		for c := range 11 {
			path, _ := tree.Path(c)
			p := 1.0
			for _, step := range path {
				sigma := 1 / (1 + math.Exp(-f.Data[i*10+step.Split]))
				if !step.Left {
					sigma = 1 - sigma
				}
				p *= sigma
			}
			if got := math.Exp(dst.Data[i*11+c]); math.Abs(got-p) > 1e-14 {
				t.Errorf("row %d, class %d: %g, want %g", i, c, got, p)
			}
		}
	}
}

// Equation 8.
func TestStickBreakingLogProb(t *testing.T) {
	tree := must.Get(gptree.StickBreaking(4))(t)
	f := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: []float64{0, math.Log(0.25 / 0.75), math.Log(0.9 / 0.1)}}
	dst := dense.New(1, 4)
	must.Do(t, tree.LogProb(dst, f))
	for c, want := range []float64{0.5, 0.5 * 0.25, 0.5 * 0.75 * 0.9, 0.5 * 0.75 * 0.1} {
		if math.Abs(math.Exp(dst.Data[c])-want) > 1e-15 {
			t.Errorf("class %d: %g, want %g", c, math.Exp(dst.Data[c]), want)
		}
	}
}

func TestLogProbSumsToOne(t *testing.T) {
	for _, classes := range []int{1, 2, 60, 1000} {
		for name, tree := range map[string]*gptree.Tree{
			"stick":    must.Get(gptree.StickBreaking(classes))(t),
			"balanced": must.Get(gptree.RandomBalanced(classes, 1))(t),
		} {
			for _, scale := range []float64{0, 1, 30, 1e300} {
				dst := dense.New(3, classes)
				must.Do(t, tree.LogProb(dst, normal(3, classes-1, scale, 4)))
				for i := range 3 {
					if sum := classifier.LogSumExp(dst.Data[i*classes : (i+1)*classes]); math.Abs(sum) > 1e-12 {
						t.Errorf("%s, %d classes, scale %g: log of the sum is %g", name, classes, scale, sum)
					}
				}
			}
		}
	}
}

func TestLogProbExtremes(t *testing.T) {
	tree := parse(t, "[-1,0,-1,1,2]")
	inf := math.Inf(1)
	for _, c := range []struct {
		f    []float64
		want []float64
	}{
		{[]float64{1000, 0}, []float64{0, -1000 - math.Ln2, -1000 - math.Ln2}},
		{[]float64{-1000, -1000}, []float64{-1000, -1000, 0}},
		{[]float64{inf, -inf}, []float64{0, -inf, -inf}},
		{[]float64{-inf, inf}, []float64{-inf, 0, -inf}},
	} {
		dst := dense.New(1, 3)
		must.Do(t, tree.LogProb(dst, blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: c.f}))
		for k, want := range c.want {
			if got := dst.Data[k]; got != want && !(math.Abs(got-want) < 1e-12) {
				t.Errorf("log-odds %v: log p(%d) = %g, want %g", c.f, k, got, want)
			}
		}
	}
}

// The base keeps its probabilities, all scaled by what the new root gives.
func TestJoinScalesBaseProbabilities(t *testing.T) {
	base, novel := must.Get(gptree.RandomBalanced(6, 1))(t), must.Get(gptree.RandomBalanced(4, 2))(t)
	joined := must.Get(gptree.Join(base, novel))(t)
	f := normal(1, 9, 1, 3)
	alone, both := dense.New(1, 6), dense.New(1, 10)
	must.Do(t, base.LogProb(alone, blas64.General{Rows: 1, Cols: 5, Stride: 5, Data: f.Data[1:6]}))
	must.Do(t, joined.LogProb(both, f))
	root := -math.Log1p(math.Exp(-f.Data[0]))
	for c, logProb := range alone.Data {
		if math.Abs(both.Data[c]-logProb-root) > 1e-14 {
			t.Errorf("class %d: %g, want %g", c, both.Data[c], logProb+root)
		}
	}
}

func TestLogProbStridesAndRefusals(t *testing.T) {
	tree := parse(t, "[-1,0,-1,1,2]")
	wide := blas64.General{Rows: 2, Cols: 3, Stride: 5, Data: make([]float64, 8)}
	if err := tree.LogProb(wide, dense.New(2, 2)); err != nil || wide.Data[3] != 0 || wide.Data[5] != -math.Ln2 {
		t.Errorf("stride 5: %v, %v", wide.Data, err)
	}
	nan := dense.New(1, 2)
	nan.Data[1] = math.NaN()
	for name, c := range map[string][2]blas64.General{
		"NaN":        {dense.New(1, 3), nan},
		"columns":    {dense.New(1, 2), dense.New(1, 2)},
		"rows":       {dense.New(2, 3), dense.New(1, 2)},
		"log-odds":   {dense.New(1, 3), dense.New(1, 3)},
		"bad matrix": {{Rows: 1, Cols: 3, Stride: 3}, dense.New(1, 2)},
	} {
		if err := tree.LogProb(c[0], c[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var zero gptree.Tree
	if err := zero.LogProb(blas64.General{Stride: 1}, blas64.General{Stride: 1}); err == nil {
		t.Error("the zero tree answered")
	}
	single := parse(t, "[0]")
	dst := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{5, 5}}
	if err := single.LogProb(dst, dense.New(2, 0)); err != nil || dst.Data[0] != 0 || dst.Data[1] != 0 {
		t.Errorf("one class: %v, %v", dst.Data, err)
	}
}

func BenchmarkLogProb(b *testing.B) {
	for _, classes := range []int{10, 100, 1000, 10000} {
		tree := must.Get(gptree.RandomBalanced(classes, 1))(b)
		f, dst := normal(64, classes-1, 1, 1), dense.New(64, classes)
		b.Run(fmt.Sprintf("n=64_C=%d", classes), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, tree.LogProb(dst, f))
			}
		})
	}
}
