package ppcaonline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline/engine"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// world returns n examples of each of C classes, in d dimensions; each class
// varies along three separate ones.
func world(C, n, d int, seed uint64) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := blas32.General{Cols: d, Stride: d}
	var y []string
	for range n {
		for c := range C {
			own := rand.New(rand.NewPCG(uint64(c), 4))
			v := make([]float64, d)
			for j := range v {
				v[j] = 0.5*own.NormFloat64() + 0.3*rng.NormFloat64()
			}
			for range 3 {
				z := rng.NormFloat64()
				for j := range v {
					v[j] += 0.5 * z * own.NormFloat64()
				}
			}
			for _, f := range v {
				x.Data = append(x.Data, float32(f))
			}
			y = append(y, fmt.Sprintf("c%02d", c))
		}
	}
	x.Rows = len(y)
	return x, y
}

func learned(t *testing.T, cfg ppcaonline.Config, x blas32.General, y []string) *ppcaonline.Online {
	t.Helper()
	h := must.Get(ppcaonline.New(cfg))(t)
	teach(t, h, x, y)
	return h
}

func teach(t *testing.T, h classifier.Learner, x blas32.General, y []string) {
	t.Helper()
	must.Do(t, h.Learn(context.Background(), x, y))
}

func saved(t *testing.T, h *ppcaonline.Online) classifier.State {
	t.Helper()
	return must.Get(h.Save())(t)
}

func right(t *testing.T, h classifier.Head, x blas32.General, y []string) float64 {
	t.Helper()
	p := must.Get(classifier.Predict(h, x, 1))(t)
	n := 0
	for i := range p {
		if p[i].Label == y[i] {
			n++
		}
	}
	return float64(n) / float64(len(y))
}

// backgroundOf returns log N(x; m, v·I) with the moments of all classes.
func backgroundOf(models []*engine.Gaussian) func(x []float64) float64 {
	d := len(models[0].Mean)
	g := engine.Params{Mean: make([]float64, d)}
	for _, m := range models {
		for j, v := range m.Mean {
			g.Mean[j] += v / float64(len(models))
		}
	}
	for _, m := range models {
		total := dense.SumSquares(m.W.Data) + float64(d)*m.Sigma2 + dense.SquaredDistance(m.Mean, g.Mean)
		g.Sigma2 += total / float64(d*len(models))
	}
	return func(x []float64) float64 {
		return -(float64(d)*math.Log(2*math.Pi*g.Sigma2) + dense.SquaredDistance(x, g.Mean)/g.Sigma2) / 2
	}
}

// TestScoresAreLogDensities of the saved models, despite all shortcuts in the
// computation.
func TestScoresAreLogDensities(t *testing.T) {
	x, y := world(4, 30, 12, 1)
	for _, floor := range []float64{0.5, 1e-6} {
		h := learned(t, config(func(c *ppcaonline.Config) { c.Q, c.Floor = 5, floor }), x, y)
		s := saved(t, h)
		var models []*engine.Gaussian
		for i := range 4 {
			g := must.Get(engine.NewGaussian(engine.Params{
				Mean:   s.Tensors["mean"].F64[i*12 : (i+1)*12],
				W:      blas64.General{Rows: 12, Cols: 5, Stride: 5, Data: s.Tensors["w"].F64[i*60 : (i+1)*60]},
				Sigma2: s.Tensors["sigma2"].F64[i],
			}))(t)
			models = append(models, g)
		}
		background := backgroundOf(models)
		novelty := make([]float64, x.Rows)
		got := blas64.General{Rows: x.Rows, Cols: 4, Stride: 4, Data: make([]float64, 4*x.Rows)}
		must.Do(t, h.Score(got, novelty, x))
		z := classifier.Placed(x, dense.Range(0, x.Rows), true)
		for i := range x.Rows {
			want := make([]float64, 4)
			for k, g := range models {
				want[k] = g.LogDensityNats(z.Data[i*12 : (i+1)*12])
			}
			w := background(z.Data[i*12:(i+1)*12]) - slices.Max(want)
			if math.Abs(novelty[i]-w) > 1e-8*(1+math.Abs(w)) {
				t.Fatalf("novelty %g, want %g", novelty[i], w)
			}
			classifier.LogSoftmax(want)
			for k := range want {
				if math.Abs(got.Data[i*4+k]-want[k]) > 1e-7*(1+math.Abs(want[k])) {
					t.Fatalf("row %d, class %d: %g, want %g", i, k, got.Data[i*4+k], want[k])
				}
			}
		}
	}
}

// TestOneByOneIsOneSession for all policies except class, which sees the end of
// every session.
func TestOneByOneIsOneSession(t *testing.T) {
	x, y := world(3, 12, 6, 1)
	for policy, same := range map[string]bool{engine.None: true, engine.Step: true, engine.Class: false} {
		cfg := config(func(c *ppcaonline.Config) { c.Policy, c.Sigma2 = policy, 0.01 })
		h := must.Get(ppcaonline.New(cfg))(t)
		for i := range y {
			teach(t, h, dense.Rows32(x, i, i+1), y[i:i+1])
		}
		if got := reflect.DeepEqual(saved(t, h), saved(t, learned(t, cfg, x, y))); got != same {
			t.Errorf("%s: the same head is %v", policy, got)
		}
	}
}

// TestOrderOfOtherClassesDoesNotMatter; the order of a class's own examples
// does.
func TestOrderOfOtherClassesDoesNotMatter(t *testing.T) {
	x, y := world(3, 10, 6, 1)
	var byClass, backwards []int
	for _, g := range classifier.GroupByClass(y) {
		byClass = append(byClass, g.Rows...)
		slices.Reverse(g.Rows)
		backwards = append(backwards, g.Rows...)
	}
	sorted := slices.Sorted(slices.Values(y))
	want := saved(t, learned(t, ppcaonline.DefaultConfig(), x, y)).Tensors
	if got := saved(t, learned(t, ppcaonline.DefaultConfig(), dense.Gather32(x, byClass),
		sorted)).Tensors; !reflect.DeepEqual(got["w"], want["w"]) {
		t.Error("class after class differs from taking turns")
	}
	if got := saved(t, learned(t, ppcaonline.DefaultConfig(), dense.Gather32(x, backwards),
		sorted)).Tensors; reflect.DeepEqual(got["w"], want["w"]) {
		t.Error("the order of a class's examples makes no difference")
	}
}

// TestComesNearBatch checks that with 300 examples per class the accuracy is
// within 3 points of ppca fitted to all of them at once, and far above that of
// nearest means, because the classes overlap.
func TestComesNearBatch(t *testing.T) {
	x, y := world(8, 300, 24, 1)
	test, truth := world(8, 60, 24, 2)
	batch := must.Get(ppca.New(ppca.Config{Preset: ppca.PresetDefault, Q: 3, Lambda: 0.01}))(t)
	teach(t, batch, x, y)
	want := right(t, batch, test, truth)
	means := right(t, learned(t, config(func(c *ppcaonline.Config) { c.Q = 0 }), x, y), test, truth)
	for _, policy := range []string{engine.None, engine.Step, engine.Class} {
		got := right(t, learned(t, config(func(c *ppcaonline.Config) { c.Policy, c.Q = policy, 3 }), x, y), test, truth)
		if got < want-0.03 || got < means+0.05 {
			t.Errorf("%s: %.3f right, batch %.3f, without components %.3f", policy, got, want, means)
		}
	}
}

// TestOneExample checks that one example is a class: its mean, and the initial
// variance.
func TestOneExample(t *testing.T) {
	x, y := world(3, 9, 6, 1)
	h := learned(t, ppcaonline.DefaultConfig(), x, y)
	one := blas32.General{Rows: 1, Cols: 6, Stride: 6, Data: []float32{9, 0, 0, 0, 0, 0}}
	teach(t, h, one, []string{"new"})
	p, err := classifier.Predict(h, one, 1)
	if err != nil || p[0].Label != "new" {
		t.Errorf("%+v, %v", p, err)
	}
	s := saved(t, h)
	if got := s.Tensors["mean"].F64[18:]; !slices.Equal(got, []float64{1, 0, 0, 0, 0, 0}) ||
		s.Tensors["steps"].I64[3] != 0 {
		t.Errorf("mean %v after %d steps", got, s.Tensors["steps"].I64[3])
	}
	must.Do(t, h.Forget("new"))
	if !reflect.DeepEqual(saved(t, h), saved(t, learned(t, ppcaonline.DefaultConfig(), x, y))) {
		t.Error("forgetting a class leaves something of it")
	}
	if err := h.Forget("new"); !errors.Is(err, classifier.ErrUnknownClass) {
		t.Error(err)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, c := range map[string]ppcaonline.Config{
		"q":      config(func(c *ppcaonline.Config) { c.Q = -1 }),
		"sigma2": config(func(c *ppcaonline.Config) { c.Sigma2 = math.NaN() }),
		"floor":  config(func(c *ppcaonline.Config) { c.Floor = 0 }),
		"policy": config(func(c *ppcaonline.Config) { c.Policy = "never" }),
		"beta":   config(func(c *ppcaonline.Config) { c.Beta = math.Inf(1) }),
	} {
		if _, err := ppcaonline.New(c); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	for _, d := range []int{192, 640} {
		x, y := world(1, 100, d, 1)
		b.Run(fmt.Sprintf("n=100_d=%d_q=20", d), func(b *testing.B) {
			for b.Loop() {
				h := must.Get(ppcaonline.New(ppcaonline.DefaultConfig()))(b)
				must.Do(b, h.Learn(context.Background(), x, y))
			}
		})
	}
}

func BenchmarkLogProb(b *testing.B) {
	const d, n = 192, 256
	for _, C := range []int{10, 100} {
		x, y := world(C, 22, d, 1)
		h := must.Get(ppcaonline.New(ppcaonline.DefaultConfig()))(b)
		must.Do(b, h.Learn(context.Background(), x, y))
		q, _ := world(n, 1, d, 2)
		dst := blas64.General{Rows: n, Cols: C, Stride: C, Data: make([]float64, n*C)}
		b.Run(fmt.Sprintf("C=%d_d=%d_q=20_n=%d", C, d, n), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, h.Score(dst, nil, q))
			}
		})
	}
}
