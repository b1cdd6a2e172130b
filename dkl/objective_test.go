package dkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// blobs draws n examples of each class around a separate point per class, and
// views of them.
func blobs(classes, n, d, views int, spread float64) Examples {
	rng := rand.New(rand.NewPCG(3, uint64(classes*d)))
	centres := make([]float64, classes*d)
	for i := range centres {
		centres[i] = rng.NormFloat64()
	}
	e := Examples{X: dense.New32(classes*n, d)}
	for range views {
		e.Views = append(e.Views, dense.New32(classes*n, d))
	}
	for i := range classes * n {
		c := i % classes
		e.Y = append(e.Y, fmt.Sprintf("c%02d", c))
		for j := range d {
			x := centres[c*d+j] + spread*rng.NormFloat64()
			e.X.Data[i*d+j] = float32(x)
			for _, v := range e.Views {
				v.Data[i*d+j] = float32(x + 0.2*rng.NormFloat64())
			}
		}
	}
	return e
}

// A bench is an objective at a random point, with a batch of examples and views
// of them.
type bench struct {
	*objective
	x    blas64.General
	leaf []int
}

func newBench(t testing.TB, cfg Config, k kernel.Kernel, e Examples, inducing int) *bench {
	t.Helper()
	head := must.Get(New(e.X.Cols, cfg))(t)
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range head.theta {
		head.theta[i] += 0.2 * rng.NormFloat64()
	}
	tree := gptree.DefaultConfig()
	tree.Inducing, tree.Normalize = inducing, k.Normalize
	z := must.Get(head.Project(e.X))(t)
	start := must.Get(tree.Start(context.Background(), z, e.Y))(t)
	start.Lengthscale, start.Outputscale = 0.8, 2.5
	d := must.Get(newData(e, Training{Views: len(e.Views)}))(t)
	o := must.Get(newObjective(head, start, k, d.sizes(), linalg.Backend{}))(t)
	b := &bench{objective: o}
	picks := d.shuffled(random.Stream(1, "dkl/order", 1))
	slices.SortStableFunc(picks, func(a, b pick) int { return o.leaf[d.class[a.row]] - o.leaf[d.class[b.row]] })
	for _, p := range picks {
		b.leaf = append(b.leaf, o.leaf[d.class[p.row]])
	}
	b.x = d.gather(picks)
	return b
}

func (b *bench) place(t testing.TB) placement {
	t.Helper()
	return must.Get(b.objective.place(b.x, b.leaf))(t)
}

func (b *bench) update(t testing.TB, rate float64) {
	t.Helper()
	b.place(t)
	must.Do(t, b.nodes.Update(rate))
}

func (b *bench) loss(t testing.TB) float64 {
	t.Helper()
	b.place(t)
	return must.Get(b.nodes.Loss())(t)
}

func kernels() []kernel.Kernel {
	var all []kernel.Kernel
	for _, kind := range kernel.Kinds() {
		all = append(all, kernel.Kernel{Kind: kind, Normalize: true})
	}
	return append(all, kernel.Kernel{Kind: kernel.RBF})
}

// Central differences of the bound with respect to θ, X̄ and φ, for every kind of
// head and kernel, on a batch that contains views of the examples.
func TestBoundAgainstCentralDifferences(t *testing.T) {
	for _, cfg := range []Config{{Dim: 12, Seed: 1}, {Dim: 11, Residual: true}, {Dim: 12, Hidden: 6, Seed: 2},
		{Dim: 12, Hidden: 5, Residual: true, Seed: 3}} {
		for _, k := range kernels() {
			b := newBench(t, cfg, k, blobs(5, 3, 11, 2, 0.4), 2)
			b.update(t, 1)
			b.update(t, 0.3)
			grad := make([]float64, len(b.vector))
			must.Get(b.gradient(grad, b.place(t)))(t)
			for i, g := range grad {
				if want := b.slope(t, i); math.Abs(g-want) > 1e-5*max(math.Abs(want), 1e-2) {
					t.Errorf("%+v, %+v: %s: %.10g, central difference %.10g", cfg, k, b.name(i), g, want)
				}
			}
		}
	}
}

// slope extrapolates two central differences to step 0. One alone is not enough
// where a head of few hidden units makes K_mm singular except for its jitter: the
// third derivative is then so large that at 1e-5 the difference is off by 1e-3.
func (b *bench) slope(t *testing.T, i int) float64 {
	t.Helper()
	const step = 1e-5
	return (4*b.difference(t, i, step/2) - b.difference(t, i, step)) / 3
}

func (b *bench) difference(t *testing.T, i int, step float64) float64 {
	t.Helper()
	old := b.vector[i]
	b.vector[i] = old + step
	up := b.loss(t)
	b.vector[i] = old - step
	down := b.loss(t)
	b.vector[i] = old
	return (up - down) / (2 * step)
}

func (b *bench) name(i int) string {
	n := len(b.head.theta)
	switch {
	case i < n:
		return fmt.Sprintf("θ[%d]", i)
	case i < len(b.vector)-scales:
		return fmt.Sprintf("X̄[%d]", i-n)
	}
	return fmt.Sprintf("φ[%d]", i-len(b.vector)+scales)
}

// Full batches: neither the nodes' updates nor a small step against the
// gradient ever lowers the bound.
func TestSmallStepsNeverLowerTheBound(t *testing.T) {
	for _, k := range kernels() {
		b := newBench(t, Config{Dim: 8, Seed: 5}, k, blobs(6, 10, 5, 0, 0.8), 3)
		grad := make([]float64, len(b.vector))
		before := b.loss(t)
		first := before
		for step := range 40 {
			b.update(t, 1)
			after, err := b.gradient(grad, b.place(t))
			if err != nil || after > before+1e-12 {
				t.Fatalf("%+v: step %d: the nodes took the loss from %.15g to %.15g, %v", k, step, before, after, err)
			}
			for i, g := range grad {
				b.vector[i] -= 1e-3 * g
			}
			if before = b.loss(t); before > after {
				t.Fatalf("%+v: step %d took the loss from %.15g to %.15g", k, step, after, before)
			}
		}
		if before > first-0.1 {
			t.Errorf("%+v: from %g to %g only", k, first, before)
		}
	}
}

// The tree's own order of leaves and spans.
func TestArrange(t *testing.T) {
	x := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, 1, 0.1, 0.1, 1}}
	s := must.Get(gptree.DefaultConfig().Start(context.Background(), x, []string{"a", "b", "c", "d"}))(t)
	splits, class := s.Tree.Spans()
	if !slices.Equal(class, []int{0, 2, 1, 3}) || len(splits) != 3 {
		t.Fatalf("%v %v", splits, class)
	}
	for v, sp := range splits {
		left, right, err := s.Tree.Split(v)
		if err != nil || !slices.Equal(left, class[sp.Lo:sp.Mid]) || !slices.Equal(right, class[sp.Mid:sp.Hi]) {
			t.Errorf("split %d: %v, %v %v", v, sp, left, right)
		}
	}
}

// One step of phase 2 at the size of the paper.
func BenchmarkStep(b *testing.B) {
	for _, s := range []struct{ classes, inducing, batch, d, D int }{{60, 5, 128, 192, 512}, {20, 5, 128, 192, 512},
		{60, 10, 128, 192, 512}, {100, 5, 128, 512, 512}} {
		b.Run(fmt.Sprintf("classes=%d/inducing=%d/batch=%d/d=%d/D=%d", s.classes, s.inducing, s.batch, s.d, s.D),
			func(b *testing.B) {
				e := blobs(s.classes, max(20, 2*s.batch/s.classes), s.d, 0, 2)
				cfg := DefaultTraining()
				cfg.Preset, cfg.Pretrain, cfg.Batch, cfg.Inducing, cfg.Dim, cfg.Validation = PresetMiniImageNet, 0,
					s.batch, s.inducing, s.D, 0
				tr := must.Get(NewTrainer(cfg, gptree.DefaultConfig(), e,
					nativetest.Open(b, native.ONNXRuntime).Backend))(b)
				must.Do(b, tr.grow(context.Background()))
				batch := tr.data.shuffled(random.Stream(0, "dkl/order", 0))[:s.batch]
				for b.Loop() {
					must.Get(tr.step(batch))(b)
				}
			})
	}
}
