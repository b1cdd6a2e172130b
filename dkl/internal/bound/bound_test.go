package bound_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dkl/internal/bound"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// A rig is four leaves under three nodes, ((0 1) (2 3)), with 3, 2, 4 and 1
// inducing inputs, and a batch whose kernel matrices come from features.
type rig struct {
	nodes   *bound.Nodes
	problem bound.Problem
	rng     *rand.Rand
}

var (
	splits   = []bound.Split{{Lo: 0, Mid: 2, Hi: 4}, {Lo: 0, Mid: 1, Hi: 2}, {Lo: 2, Mid: 3, Hi: 4}}
	inducing = []int{3, 2, 4, 1}
	examples = []int{7, 9, 5, 4}
)

func newRig(t testing.TB, leaf []int, seed uint64) *rig {
	t.Helper()
	return rigOf(t, inducing, 14, linalg.Gonum{}, leaf, seed)
}

// rigOf has features of d values; the kernel is about 2.8 times the identity.
func rigOf(t testing.TB, inducing []int, d int, raw linalg.Kernel, leaf []int, seed uint64) *rig {
	t.Helper()
	r := &rig{rng: rand.New(rand.NewPCG(seed, 1))}
	var err error
	if r.nodes, err = bound.New(splits, inducing, examples, linalg.On(linalg.Gonum{}, raw)); err != nil {
		t.Fatal(err)
	}
	r.problem.Leaf = leaf
	M, scale := r.nodes.Inducing(), 2.8/float64(d)
	z, x := r.normal(M, d), r.normal(len(leaf), d)
	r.problem.Kmm, r.problem.Knm = dense.New(M, M), dense.New(len(leaf), M)
	blas64.Gemm(blas.NoTrans, blas.Trans, scale, z, z, 0, r.problem.Kmm)
	blas64.Gemm(blas.NoTrans, blas.Trans, scale, x, z, 0, r.problem.Knm)
	for i := range leaf {
		v := blas64.Vector{N: d, Data: x.Data[i*d : i*d+d], Inc: 1}
		r.problem.Knn = append(r.problem.Knn, scale*blas64.Dot(v, v))
	}
	return r
}

func (r *rig) normal(n, d int) blas64.General {
	m := dense.New(n, d)
	for i := range m.Data {
		m.Data[i] = r.rng.NormFloat64()
	}
	return m
}

func (r *rig) place(t testing.TB) {
	t.Helper()
	must.Do(t, r.nodes.Place(r.problem))
}

func (r *rig) update(t testing.TB, rate float64) {
	t.Helper()
	r.place(t)
	must.Do(t, r.nodes.Update(rate))
}

func (r *rig) loss(t testing.TB) float64 {
	t.Helper()
	r.place(t)
	return must.Get(r.nodes.Loss())(t)
}

func everyLeaf() []int { return slices.Repeat([]int{0, 1, 2, 3}, 1) }

func allExamples() []int {
	var leaf []int
	for l, n := range examples {
		leaf = append(leaf, slices.Repeat([]int{l}, n)...)
	}
	return leaf
}

// Central differences of every element of every matrix, also where a leaf, a
// whole node, or all but one row are missing from the batch.
func TestGradientAgainstCentralDifferences(t *testing.T) {
	for name, leaf := range map[string][]int{
		"all leaves": {0, 0, 1, 2, 2, 2, 3}, "one side": {0, 0, 1}, "one row": {2}, "no left": {2, 3, 3},
	} {
		r := newRig(t, leaf, 7)
		r.update(t, 1)
		r.update(t, 0.3) // away from the optimum
		r.place(t)
		_, adj := must.Get2(r.nodes.Gradient(len(leaf)))(t)
		check := func(what string, g float64, at ...*float64) {
			t.Helper()
			const step = 1e-5
			move := func(by float64) float64 {
				for _, p := range at {
					*p += by
				}
				defer func() {
					for _, p := range at {
						*p -= by
					}
				}()
				return r.loss(t)
			}
			want := (move(step) - move(-step)) / (2 * step)
			if math.Abs(g-want) > 1e-5*max(math.Abs(want), 1e-3) {
				t.Errorf("%s: %s: %.10g, central difference %.10g", name, what, g, want)
			}
		}
		for i := range 10 {
			check(fmt.Sprint("K_mm", i, i), adj.Kmm.Data[i*10+i], &r.problem.Kmm.Data[i*10+i])
			for j := range i {
				check(fmt.Sprint("K_mm", i, j), 2*adj.Kmm.Data[i*10+j], &r.problem.Kmm.Data[i*10+j],
					&r.problem.Kmm.Data[j*10+i])
			}
		}
		for i := range adj.Knm.Data {
			check(fmt.Sprint("K_nm", i), adj.Knm.Data[i], &r.problem.Knm.Data[i])
		}
		for i := range adj.Knn {
			check(fmt.Sprint("K_nn", i), adj.Knn[i], &r.problem.Knn[i])
		}
	}
}

// Every node is the one of package gp: the same bound, posterior and steps.
func TestNodesAreThoseOfPackageGP(t *testing.T) {
	leaf := allExamples()
	r := newRig(t, leaf, 3)
	for i := range 10 {
		r.problem.Kmm.Data[i*10+i] *= 1 + 1e-3 // no jitter in package gp
	}
	root := sub(r.problem.Kmm, 1+1e-6)
	v := must.Get(gp.NewVI(root))(t)
	yes := make([]bool, len(leaf))
	for i, l := range leaf {
		yes[i] = l < 2
	}
	b := must.Get(v.Batch(r.problem.Knm, r.problem.Knn, yes))(t)
	for _, rate := range []float64{1, 0.3, 0.05} {
		r.update(t, rate)
		must.Do(t, v.Step(b, 1, rate))
	}
	eta, precision := r.nodes.State()
	wantEta, wantPrecision := v.State()
	near(t, "h", eta, wantEta)
	for i := range wantPrecision.Rows {
		near(t, "P", precision[i*(i+1)/2:], dense.Row(wantPrecision, i)[:i+1])
	}
	want := must.Get(v.Latent(r.problem.Knm, r.problem.Knn))(t)
	left, right := make([]float64, len(leaf)), make([]float64, len(leaf))
	want.LogProbs(left, right, gp.Quadrature)
	odds := dense.New(len(leaf), 3)
	must.Do(t, r.nodes.LogOdds(odds, r.problem.Kmm, r.problem.Knm, r.problem.Knn))
	for i := range leaf {
		near(t, "log-odds", []float64{odds.Data[i*3]}, []float64{left[i] - right[i]})
	}
}

func sub(m blas64.General, diagonal float64) blas64.General {
	out := dense.New(m.Rows, m.Cols)
	copy(out.Data, m.Data)
	for i := range m.Rows {
		out.Data[i*m.Cols+i] *= diagonal
	}
	return out
}

// The loss of all examples is minus the sum of the bounds of package gp, each
// divided by its number of examples.
func TestLossIsTheSumOfBounds(t *testing.T) {
	leaf := allExamples()
	r := newRig(t, leaf, 5)
	var want float64
	first := []int{0, 3, 5, 9, 10}
	for _, s := range splits {
		lo, hi := first[s.Lo], first[s.Hi]
		var rows []int
		var yes []bool
		for i, l := range leaf {
			if s.Lo <= l && l < s.Hi {
				rows, yes = append(rows, i), append(yes, l < s.Mid)
			}
		}
		kmm, knm, knn := dense.New(hi-lo, hi-lo), dense.New(len(rows), hi-lo), make([]float64, len(rows))
		for i := range hi - lo {
			copy(kmm.Data[i*kmm.Cols:], r.problem.Kmm.Data[(lo+i)*10+lo:(lo+i)*10+hi])
			kmm.Data[i*kmm.Cols+i] *= 1 + 1e-6
		}
		for i, j := range rows {
			copy(knm.Data[i*knm.Cols:(i+1)*knm.Cols], r.problem.Knm.Data[j*10+lo:])
			knn[i] = r.problem.Knn[j]
		}
		want -= boundOf(t, kmm, knm, knn, yes) / float64(len(rows))
	}
	r.update(t, 1)
	r.update(t, 1)
	near(t, "loss", []float64{r.loss(t)}, []float64{want})
}

func boundOf(t *testing.T, kmm, knm blas64.General, knn []float64, yes []bool) float64 {
	t.Helper()
	v := must.Get(gp.NewVI(kmm))(t)
	b := must.Get(v.Batch(knm, knn, yes))(t)
	bounds := must.Get(v.Fit(context.Background(), b, 2, -math.MaxFloat64))(t)
	return bounds[len(bounds)-1]
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-8*max(1, math.Abs(w))) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// Full batches with rate 1 are coordinate ascent.
func TestFullUpdatesNeverLoseGround(t *testing.T) {
	r := newRig(t, allExamples(), 11)
	before := r.loss(t)
	for range 30 {
		r.update(t, 1)
		after := r.loss(t)
		if after > before+1e-12 {
			t.Fatalf("the loss rose from %.15g to %.15g", before, after)
		}
		before = after
	}
}

func TestStateComesBack(t *testing.T) {
	r := newRig(t, everyLeaf(), 2)
	r.update(t, 0.5)
	eta, precision := r.nodes.State()
	other := newRig(t, everyLeaf(), 2)
	must.Do(t, other.nodes.Restore(eta, precision))
	for range 3 {
		r.update(t, 0.1)
		other.update(t, 0.1)
	}
	a, _ := r.nodes.State()
	b, _ := other.nodes.State()
	if !slices.Equal(a, b) {
		t.Error("the steps after Restore differ")
	}
	if other.nodes.Restore(eta[1:], precision) == nil ||
		other.nodes.Restore(eta, make([]float64, len(precision))) == nil {
		t.Error("a state that is none was taken")
	}
}

// gradients are those after a step away from the prior, one after the other.
func (r *rig) gradients(t testing.TB) []float64 {
	t.Helper()
	r.update(t, 0.4)
	r.place(t)
	loss, adj := must.Get2(r.nodes.Gradient(len(r.problem.Leaf)))(t)
	return slices.Concat([]float64{loss}, adj.Kmm.Data, adj.Knm.Data, adj.Knn)
}

func TestThreadsDoNotMatter(t *testing.T) {
	for name, rig := range map[string]func() *rig{
		"small": func() *rig { return newRig(t, []int{0, 0, 1, 2, 2, 2, 3}, 7) },
		"large": func() *rig { return large(t, library{}) },
	} {
		var want []float64
		for _, threads := range []int{1, 2, 5} {
			old := runtime.GOMAXPROCS(threads)
			got := rig().gradients(t)
			runtime.GOMAXPROCS(old)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads: other gradients", name, threads)
			}
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	for _, s := range [][]bound.Split{nil, {{Lo: 0, Mid: 0, Hi: 1}}, {{Lo: 0, Mid: 1, Hi: 3}}} {
		if _, err := bound.New(s, []int{1, 1}, []int{1, 1}, linalg.Backend{}); err == nil {
			t.Errorf("%v: no error", s)
		}
	}
	if _, err := bound.New(splits, inducing, []int{1, 0, 1, 1}, linalg.Backend{}); err == nil {
		t.Error("a leaf without examples")
	}
	r := newRig(t, everyLeaf(), 1)
	r.problem.Leaf = []int{3, 2, 1, 0}
	if r.nodes.Place(r.problem) == nil {
		t.Error("leaves that do not ascend")
	}
	r.problem.Leaf = []int{0, 1, 2, 4}
	if r.nodes.Place(r.problem) == nil {
		t.Error("a leaf that is not there")
	}
	if r.nodes.Update(0) == nil {
		t.Error("a rate of 0")
	}
	r = newRig(t, everyLeaf(), 1)
	r.problem.Kmm.Data[0] = math.NaN()
	if r.nodes.Place(r.problem) == nil {
		t.Error("a NaN")
	}
}
