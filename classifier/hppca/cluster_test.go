package hppca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func drawn(t *testing.T, k int, cfg Config) *HPPCA {
	t.Helper()
	const n, d = 7, 12
	rng := rand.New(rand.NewPCG(3, 4))
	x := dense.New32(k*n, d)
	y := make([]string, k*n)
	for i := range y {
		own := rand.New(rand.NewPCG(5, uint64(i/n)))
		y[i] = fmt.Sprintf("c%02d", i/n)
		for j := range d {
			x.Data[i*d+j] = float32(2*own.NormFloat64() + 0.7*rng.NormFloat64())
		}
	}
	h := must.Get(New(cfg))(t)
	must.Do(t, h.Learn(context.Background(), x, y))
	return h
}

func kl(t *testing.T, p, q lowrank.Gaussian) float64 {
	t.Helper()
	return must.Get(lowrank.KL(p, q))(t)
}

// TestClustersAreAFixedPoint checks that every class is in the super-class with
// the smallest KL divergence, and that every super-class is the mixture of its
// classes, at each level.
func TestClustersAreAFixedPoint(t *testing.T) {
	for _, levels := range []int{2, 3} {
		cfg := DefaultConfig()
		cfg.S, cfg.Levels = 6, levels
		h := drawn(t, 25, cfg)
		below, parent := gaussians(h.Model().Classes.Values()), supersOf(h.Model().Classes.Values())
		weights := slices.Repeat([]float64{1}, len(below))
		for l := len(h.Model().Shared.tree.levels) - 1; l >= 0; l-- {
			nodes := h.Model().Shared.tree.levels[l].nodes
			for i, g := range below {
				for s := range nodes {
					if a, b := kl(t, g, nodes[parent[i]]), kl(t, g, nodes[s]); a > b*(1+1e-5) {
						t.Errorf("level %d: %d is in %d at %g, but %d is at %g", l, i, parent[i], a, s, b)
					}
				}
			}
			k := means{cfg: cfg, mul: h.Model().Backend, gs: below, weights: weights,
				supers: make([]lowrank.Gaussian, len(nodes))}
			must.Do(t, k.update(context.Background(), parent, dense.Range(0, len(nodes))))
			for s := range nodes {
				if d := kl(t, nodes[s], k.supers[s]); d > 1e-5 {
					t.Errorf("level %d: super-class %d is %g nats from the mixture of its own", l, s, d)
				}
			}
			weights = weightsOf(parent, weights, len(nodes))
			below, parent = nodes, h.Model().Shared.tree.levels[l].parent
		}
	}
}

// TestNodesHaveTheMomentsOfTheirClasses checks this whatever the number of
// levels in between.
func TestNodesHaveTheMomentsOfTheirClasses(t *testing.T) {
	cfg := DefaultConfig()
	cfg.S, cfg.Levels, cfg.R = 9, 3, 12
	h := drawn(t, 30, cfg)
	if len(h.Model().Shared.tree.levels) != 2 {
		t.Fatalf("%d levels", len(h.Model().Shared.tree.levels))
	}
	for node, columns := range h.Model().Shared.scorer.steps[0].under {
		var members []lowrank.Gaussian
		for _, c := range columns {
			members = append(members, gaussians(h.Model().Classes.Values())[c])
		}
		want := must.Get(lowrank.Mixture(members, slices.Repeat([]float64{1}, len(members)), 12, h.Model().Backend))(t)
		if d := kl(t, h.Model().Shared.tree.levels[0].nodes[node], want); d > 1e-4 {
			t.Errorf("node %d is %g nats from the mixture of its %d classes", node, d, len(columns))
		}
	}
}

// TestNewClassesJoinTheNearest also checks that the super-classes stay the
// same.
func TestNewClassesJoinTheNearest(t *testing.T) {
	h := drawn(t, 20, DefaultConfig())
	before := h.Model().Shared.tree
	x := blas32.General{Rows: 3, Cols: 12, Stride: 12, Data: make([]float32, 36)}
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	must.Do(t, h.Learn(context.Background(), x, []string{"new2", "new1", "new2"}))
	if !reflect.DeepEqual(before, h.Model().Shared.tree) {
		t.Error("the super-classes changed")
	}
	for _, name := range []string{"new1", "new2"} {
		c, _ := h.Model().Classes.Get(name)
		for s, g := range h.Model().Shared.tree.lowest().nodes {
			if a, b := kl(t, c.Gaussian, h.Model().Shared.tree.lowest().nodes[c.super]),
				kl(t, c.Gaussian, g); a > b*(1+1e-5) {
				t.Errorf("%s joined %d at %g, but %d is at %g", name, c.super, a, s, b)
			}
		}
	}
}

// TestUnvisitedClassesGetTheBound of the nearest node above them that was
// scored: its score plus the logarithm of the number of classes below.
func TestUnvisitedClassesGetTheBound(t *testing.T) {
	cfg := DefaultConfig()
	cfg.S, cfg.T, cfg.Levels = 9, 1, 3
	h := drawn(t, 30, cfg)
	x := dense.New32(5, 12)
	for i := range x.Data {
		x.Data[i] = float32(i%7) - 3
	}
	q := lowrank.NewQueries(lowrank.Placed(x, *h.cfg.Normalize), h.Model().Shared.scorer.centre)
	dst := dense.New(5, 30)
	must.Do(t, h.Score(dst, nil, x))
	everything := must.Get(lowrank.NewStack(gaussians(h.Model().Classes.Values()), h.Model().Shared.scorer.centre, true,
		lowrank.Precise, h.Model().Backend).Scores(q, dense.Range(0, 5)))(t)
	found := must.Get(h.Model().Shared.scorer.find(x))(t)
	for i, f := range found {
		best := math.Inf(-1)
		want := make([]float64, 30)
		visited := make([]bool, 30)
		for _, c := range f.classes {
			visited[c.item], want[c.item] = true, everything.Data[i*30+c.item]
			best = max(best, want[c.item])
		}
		seen := len(f.classes)
		for l, nodes := range f.skipped {
			for _, n := range nodes {
				under := h.Model().Shared.scorer.steps[l].under[n.item]
				seen += len(under)
				for _, c := range under {
					want[c] = min(n.score+math.Log(float64(len(under))), best-math.Ln2)
				}
			}
		}
		if seen != 30 {
			t.Fatalf("%d classes are accounted for", seen)
		}
		classifier.LogSoftmax(want)
		for c, v := range dst.Data[i*30 : (i+1)*30] {
			if math.Abs(v-want[c]) > 1e-6*(1+math.Abs(v)) {
				t.Errorf("row %d, class %d (visited: %v): %g, want %g", i, c, visited[c], v, want[c])
			}
		}
	}
}

func TestFillEmpty(t *testing.T) {
	of, distance := []int{0, 0, 2, 0}, []float64{1, 5, 9, 3}
	fillEmpty(of, distance, 4)
	if !slices.Equal(of, []int{0, 1, 2, 3}) { // the 9 is alone and stays
		t.Errorf("%v", of)
	}
}

// TestEqualClasses checks that there are as many super-classes as requested and
// that none is empty.
func TestEqualClasses(t *testing.T) {
	x := dense.New32(6, 4)
	for i := range x.Data {
		x.Data[i] = 1
	}
	for _, cluster := range []string{ClusterGaussians, ClusterRaw} {
		cfg := DefaultConfig()
		cfg.S, cfg.Cluster = 3, cluster
		h := must.Get(New(cfg))(t)
		must.Do(t, h.Learn(context.Background(), x, []string{"a", "b", "c", "d", "e", "f"}))
		if cluster == ClusterGaussians && h.Supers() != 3 || h.Supers() < 1 {
			t.Errorf("%s: %d super-classes", cluster, h.Supers())
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		k, s, levels int
		want         []int
	}{
		{10450, 0, 2, []int{102}}, {10450, 33, 2, []int{33}}, {1000, 0, 3, []int{100, 10}},
		{1000, 100, 3, []int{100, 10}},
		{1, 0, 2, []int{1}}, {5, 100, 2, []int{5}}, {2, 0, 4, []int{2}}, {3, 0, 2, []int{2}},
		{10000, 0, 4, []int{1000, 100, 10}},
	} {
		cfg := Config{S: c.s, Levels: c.levels}
		if got := cfg.sizes(c.k); !slices.Equal(got, c.want) {
			t.Errorf("K=%d S=%d levels=%d: %v, want %v", c.k, c.s, c.levels, got, c.want)
		}
	}
}

func TestMajority(t *testing.T) {
	if got := majority([]int{0, 0, 0, 1, 1}, []int{2, 1, 2, 0, 1}, 2, 3); !slices.Equal(got, []int{2, 0}) {
		t.Errorf("majority %v", got)
	}
}
