package gptree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/kernel"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// cloud returns n examples of each of the classes first … last−1 in d
// dimensions; another draw has other examples of the same classes.
func cloud(first, last, n, d int, draw uint64) (blas32.General, []string) {
	x := blas32.General{Cols: d, Stride: d}
	var y []string
	for c := first; c < last; c++ {
		centre, noise := rand.New(rand.NewPCG(1, uint64(c))), rand.New(rand.NewPCG(draw, uint64(c)))
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = centre.NormFloat64()
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(mean[j]+0.5*noise.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("c%02d", c))
		}
	}
	x.Rows = len(y)
	return x, y
}

func newHead(t testing.TB, cfg gptree.Config) *gptree.GPTree {
	t.Helper()
	return must.Get(gptree.New(cfg))(t)
}

func learn(t testing.TB, h *gptree.GPTree, x blas32.General, y []string) {
	t.Helper()
	must.Do(t, h.Learn(context.Background(), x, y))
}

func accuracy(t testing.TB, h *gptree.GPTree, x blas32.General, y []string) float64 {
	t.Helper()
	predictions := must.Get(classifier.Predict(h, x, 0))(t)
	var right float64
	for i, p := range predictions {
		if p.Label == y[i] {
			right++
		}
	}
	return right / float64(len(y))
}

// TestProbabilitiesAreTheProductOfTheNodes: with two base classes and one
// novel one, the nodes are built here by hand from package gp.
func TestProbabilitiesAreTheProductOfTheNodes(t *testing.T) {
	x, y := cloud(0, 2, 4, 3, 7)
	more, moreY := cloud(2, 3, 5, 3, 7)
	test, _ := cloud(0, 3, 6, 3, 8)
	cfg := paper(func(c *gptree.Config) { c.RootBias = 0.7 })
	cfg.Inducing = 4 // all examples: inducing inputs are exactly these
	h := newHead(t, cfg)
	learn(t, h, x, y)
	learn(t, h, more, moreY)
	got := classifiertest.LogProb(t, h, test)

	k := kernel.Kernel{Kind: cfg.Kernel, Normalize: true, Lengthscale: 1, Outputscale: cfg.Outputscale}
	points := func(m blas32.General) kernel.Points {
		return must.Get(k.Points(classifier.Placed(m, dense.Range(0, m.Rows), false)))(t)
	}
	gram := k.Gram(points(x))
	base := must.Get(gp.NewVI(gram))(t)
	variances := slices.Repeat([]float64{cfg.Outputscale}, 18)
	batch := must.Get(base.Batch(gram, variances[:8], []bool{true, true, true, true, false, false, false, false}))(t)
	must.Get(base.Fit(context.Background(), batch, cfg.Iterations, 1e-4))(t)
	rows := blas64.General{Rows: 18, Cols: 8, Stride: 8, Data: make([]float64, 18*8)}
	k.Cross(rows, points(test), points(x))
	latent := must.Get(base.Latent(rows, variances))(t)
	left, right := make([]float64, 18), make([]float64, 18)
	latent.LogProbs(left, right, gp.Quadrature)
	for i := range 18 {
		p := got.Data[3*i : 3*i+3]
		if odds := p[0] - p[1]; math.Abs(odds-(left[i]-right[i])) > 1e-9 {
			t.Errorf("row %d: base log-odds %.12g, want %.12g", i, odds, left[i]-right[i])
		}
	}
	cfg.RootBias = 0
	plain := newHead(t, cfg)
	learn(t, plain, x, y)
	learn(t, plain, more, moreY)
	odds := func(p []float64) float64 { return p[2] - math.Log(math.Exp(p[0])+math.Exp(p[1])) }
	for i, want := range logProbsRows(classifiertest.LogProb(t, plain, test)) {
		if got := odds(got.Data[3*i : 3*i+3]); math.Abs(got-odds(want)-0.7) > 1e-9 {
			t.Errorf("row %d: the root bias shifts by %g", i, got-odds(want))
		}
	}
}

func logProbsRows(m blas64.General) (rows [][]float64) {
	for i := range m.Rows {
		rows = append(rows, m.Data[i*m.Stride:i*m.Stride+m.Cols])
	}
	return rows
}

// TestBaseIsUntouched: sessions do not change the odds among base classes.
func TestBaseIsUntouched(t *testing.T) {
	test, _ := cloud(0, 6, 5, 8, 9)
	for _, growth := range []gptree.Growth{gptree.GrowShared, gptree.GrowSession} {
		h := newHead(t, config(func(c *gptree.Config) { c.Growth = growth }))
		x, y := cloud(0, 4, 12, 8, 1)
		learn(t, h, x, y)
		before := classifiertest.LogProb(t, h, test)
		for s := range 2 {
			x, y := cloud(4+s, 5+s, 5, 8, 1)
			learn(t, h, x, y)
		}
		after := classifiertest.LogProb(t, h, test)
		for i := range test.Rows {
			for c := 1; c < 4; c++ {
				a, b := before.Data[4*i+c]-before.Data[4*i], after.Data[6*i+c]-after.Data[6*i]
				if math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
					t.Fatalf("%s: row %d, class %d: %g and %g", growth, i, c, a, b)
				}
			}
		}
	}
}

// TestGrowths: the trees of the three variants.
func TestGrowths(t *testing.T) {
	for growth, want := range map[gptree.Growth]string{
		gptree.GrowShared:  "[-1,-1,0,1,-1,2,3]",
		gptree.GrowSession: "[-1,-1,-1,0,1,2,3]",
	} {
		h := newHead(t, config(func(c *gptree.Config) { c.Growth = growth }))
		for _, s := range [][2]int{{0, 2}, {2, 3}, {3, 4}} {
			x, y := cloud(s[0], s[1], 5, 8, 1)
			learn(t, h, x, y)
		}
		tree, leaves := h.Tree()
		text, err := tree.MarshalJSON()
		if err != nil || string(text) != want || strings.Join(leaves, " ") != "c00 c01 c02 c03" {
			t.Errorf("%s: %s over %v, %v", growth, text, leaves, err)
		}
	}
	h := newHead(t, config(func(c *gptree.Config) { gibbs(c); c.Growth = gptree.GrowRebuild }))
	once := newHead(t, config(gibbs))
	x, y := cloud(0, 6, 5, 8, 1)
	learn(t, once, x, y)
	for _, s := range [][2]int{{3, 6}, {0, 3}} {
		x, y := cloud(s[0], s[1], 5, 8, 1)
		learn(t, h, x, y)
	}
	a, _ := h.Tree()
	b, _ := once.Tree()
	if got, want := preorder(t, a), preorder(t, b); got != want {
		t.Errorf("rebuilt\n%v\nat once\n%v", got, want)
	}
}

// TestEveryKernelAndTreeClassifies clouds that lie apart, through few-shot
// sessions, and can be reloaded from a file.
func TestEveryKernelAndTreeClassifies(t *testing.T) {
	test, testY := cloud(0, 8, 8, 16, 5)
	for _, c := range []struct {
		kernel kernel.Kind
		tree   gptree.Builder
		base   gptree.Base
	}{
		{kernel.RBF, gptree.BuildKMeans, gptree.BaseVI}, {kernel.RBF, gptree.BuildKMeans, gptree.BaseGibbs},
		{kernel.Matern52, gptree.BuildKMeans, gptree.BaseVI}, {kernel.Linear, gptree.BuildKMeans, gptree.BaseVI},
		{kernel.Linear, gptree.BuildStickBreaking, gptree.BaseGibbs}, {kernel.RBF, gptree.BuildRandom, gptree.BaseVI},
	} {
		h := newHead(t, paper(func(cfg *gptree.Config) { cfg.Kernel, cfg.Tree, cfg.Base = c.kernel, c.tree, c.base }))
		x, y := cloud(0, 5, 10, 16, 1)
		learn(t, h, x, y)
		for s := range 2 {
			x, y := cloud(5+2*s, min(7+2*s, 8), 5, 16, 1)
			learn(t, h, x, y)
		}
		if got := accuracy(t, h, test, testY); got < 0.9 {
			t.Errorf("%v: accuracy %.2f", c, got)
		}
		state := must.Get(h.Save())(t)
		back, err := gptree.Load(state)
		if err != nil ||
			!slices.Equal(classifiertest.LogProb(t, back, test).Data, classifiertest.LogProb(t, h, test).Data) {
			t.Errorf("%v: reloaded, other bits, %v", c, err)
		}
	}
}

// TestLoadTakesTheSavedTree: a file means the same even if a program would build
// another tree.
func TestLoadTakesTheSavedTree(t *testing.T) {
	h := newHead(t, paper(func(c *gptree.Config) { c.Tree, c.Base, c.Seed = gptree.BuildRandom, gptree.BaseGibbs, 1 }))
	x, y := cloud(0, 9, 5, 16, 1)
	learn(t, h, x, y)
	state := must.Get(h.Save())(t)
	settings := state.Settings
	state.Settings = bytes.Replace(settings, []byte(`"seed":1`), []byte(`"seed":2`), 1)
	back, err := gptree.Load(state)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(classifiertest.LogProb(t, back, x).Data, classifiertest.LogProb(t, h, x).Data) {
		t.Error("another seed gives the file another meaning")
	}
	state.Settings = bytes.Replace(settings, []byte(`"trees"`), []byte(`"other"`), 1)
	if _, err = gptree.Load(state); err == nil || !strings.Contains(err.Error(), "train the model again") {
		t.Errorf("a file without the tree: %v", err)
	}
}

// TestSameSeedSameBytes, whatever the number of threads; another seed gives
// others.
func TestSameSeedSameBytes(t *testing.T) {
	run := func(seed uint64) classifier.State {
		h := newHead(t, config(func(c *gptree.Config) { c.Seed = seed }))
		for _, s := range [][3]int{{0, 9, 40}, {9, 12, 5}, {12, 14, 5}} {
			x, y := cloud(s[0], s[1], s[2], 24, 1)
			learn(t, h, x, y)
		}
		return must.Get(h.Save())(t)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	many := run(1)
	runtime.GOMAXPROCS(1)
	if one := run(1); !reflect.DeepEqual(one.Tensors, many.Tensors) || !bytes.Equal(one.Settings, many.Settings) {
		t.Error("one thread gives other bytes")
	}
	if other := run(2); reflect.DeepEqual(other.Tensors, many.Tensors) {
		t.Error("another seed gives the same bytes")
	}
}

// TestLargeSessionIsFittedByVI: a later session with more examples per class than
// Gibbs nodes take becomes a separate tree that predicts like a base session of the
// same classes; small sessions before and after it share a tree.
func TestLargeSessionIsFittedByVI(t *testing.T) {
	for _, growth := range []gptree.Growth{gptree.GrowShared, gptree.GrowSession, gptree.GrowRebuild} {
		h := newHead(t, config(func(c *gptree.Config) { c.MaxPerClass, c.Growth = 6, growth }))
		for i, n := range []int{20, 5, 25, 4} {
			x, y := cloud(3*i, 3*i+3, n, 8, 1)
			learn(t, h, x, y)
		}
		test, want := cloud(0, 12, 10, 8, 2)
		got := classifiertest.LogProb(t, h, test)
		var right int
		for i := range got.Rows {
			row := got.Data[i*got.Stride : i*got.Stride+got.Cols]
			if h.Classes()[slices.Index(row, slices.Max(row))] == want[i] {
				right++
			}
		}
		if right < got.Rows*6/10 {
			t.Errorf("%s: %d of %d right", growth, right, got.Rows)
		}
		x, y := cloud(6, 7, 1, 8, 3)
		if err := h.Learn(context.Background(), x, y); !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("%s: more of a class of the large session: %v", growth, err)
		}
		if err := h.Forget(y[0]); !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("%s: forget a class of the large session: %v", growth, err)
		}
		if again := classifiertest.LogProb(t, reloaded(t, h), test); !slices.Equal(again.Data, got.Data) {
			t.Errorf("%s: the saved head answers otherwise", growth)
		}
		if growth == gptree.GrowShared {
			sameAsBase(t, h)
		}
	}
}

// sameAsBase compares the third session of h with a head that has only that.
func sameAsBase(t *testing.T, h *gptree.GPTree) {
	t.Helper()
	alone := newHead(t, gptree.DefaultConfig())
	x, y := cloud(6, 9, 25, 8, 1)
	learn(t, alone, x, y)
	test, truth := cloud(6, 9, 10, 8, 2)
	both := [2]blas64.General{classifiertest.LogProb(t, h, test), classifiertest.LogProb(t, alone, test)}
	var agree int
	for i := range truth {
		var best [2]string
		for k, head := range []*gptree.GPTree{h, alone} {
			most := math.Inf(-1)
			for j, c := range head.Classes() {
				if l := both[k].Data[i*both[k].Stride+j]; slices.Contains(alone.Classes(), c) && l > most {
					best[k], most = c, l
				}
			}
		}
		if best[0] == best[1] {
			agree++
		}
	}
	if agree < len(truth)*9/10 {
		t.Errorf("among its own classes the large session agrees with a base session in %d of %d", agree, len(truth))
	}
}

func TestTooManyExamplesAreRefused(t *testing.T) {
	h := newHead(t, config(func(c *gptree.Config) { c.MaxPerClass = 6 }))
	x, y := cloud(0, 3, 20, 8, 1)
	learn(t, h, x, y) // VI takes any number
	x, y = cloud(3, 4, 4, 8, 1)
	learn(t, h, x, y)
	x, y = cloud(3, 4, 3, 8, 2)
	err := h.Learn(context.Background(), x, y)
	if err == nil || !strings.Contains(err.Error(), "max_per_class") || !strings.Contains(err.Error(), "c03") {
		t.Errorf("seven examples where six fit: %v", err)
	}
	x, y = cloud(0, 1, 3, 8, 2)
	if err := h.Learn(context.Background(), x, y); !errors.Is(err, classifier.ErrUnsupported) {
		t.Errorf("more of a base class: %v", err)
	}
	g := newHead(t, config(gibbs))
	x, y = cloud(0, 2, 31, 8, 1)
	if err := g.Learn(context.Background(), x, y); err == nil || !strings.Contains(err.Error(), "base vi") {
		t.Errorf("31 examples a class under Gibbs: %v", err)
	}
}

// TestCalibrationChoosesTheRoot and behaves as a head that was given it.
func TestCalibrationChoosesTheRoot(t *testing.T) {
	x, y := cloud(0, 10, 14, 12, 1)
	h := newHead(t, config(func(c *gptree.Config) { c.Calibrate = true }))
	learn(t, h, x, y)
	c := h.Choice()
	if c == nil || c.Fallback != "" || len(c.Scores) < 5 {
		t.Fatalf("%+v", c)
	}
	given := newHead(t,
		config(func(cfg *gptree.Config) { cfg.RootBias, cfg.RootLengthscale = c.Value.Bias, c.Value.Lengthscale }))
	learn(t, given, x, y)
	more, moreY := cloud(10, 13, 5, 12, 1)
	learn(t, h, more, moreY)
	learn(t, given, more, moreY)
	test, _ := cloud(0, 13, 3, 12, 2)
	if !slices.Equal(classifiertest.LogProb(t, h, test).Data, classifiertest.LogProb(t, given, test).Data) {
		t.Errorf("not the head with the root %+v", c.Value)
	}
}

func TestConfigNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*gptree.Config){
		"tree": func(c *gptree.Config) { c.Tree = "oak" }, "base": func(c *gptree.Config) { c.Base = "" },
		"growth":            func(c *gptree.Config) { c.Growth = "fast" },
		"kernel":            func(c *gptree.Config) { c.Kernel = "cosine" },
		"lengthscale":       func(c *gptree.Config) { c.Lengthscale = 0 },
		"outputscale":       func(c *gptree.Config) { c.Outputscale = -1 },
		"gibbs_outputscale": func(c *gptree.Config) { c.GibbsOutputscale = math.NaN() },
		"chains":            func(c *gptree.Config) { c.Chains = 0 },
		"steps":             func(c *gptree.Config) { c.Steps = 0 },
		"prediction":        func(c *gptree.Config) { c.Prediction = "mode" },
		"inducing":          func(c *gptree.Config) { c.Inducing = 0 },
		"iterations":        func(c *gptree.Config) { c.Iterations = -1 },
		"max_per_class":     func(c *gptree.Config) { c.MaxPerClass = 0 },
		"root_bias":         func(c *gptree.Config) { c.RootBias, c.Calibrate = 1, true },
		"root_lengthscale: a linear": func(c *gptree.Config) {
			c.Mean, c.RootLengthscale, c.Kernel = gptree.MeanZero, 1, kernel.Linear
		},
		"root_lengthscale: with mean": func(c *gptree.Config) { c.RootLengthscale = 1 },
		"mean":                        func(c *gptree.Config) { c.Mean = "" },
		"root_lengthscale: -1":        func(c *gptree.Config) { c.RootLengthscale = -1 },
		"calibrate: growth":           func(c *gptree.Config) { c.Calibrate, c.Growth = true, gptree.GrowSession },
		"root_bias: growth":           func(c *gptree.Config) { c.RootBias, c.Growth = 1, gptree.GrowRebuild },
	} {
		if _, err := gptree.New(config(change)); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkLearnGibbs(b *testing.B) {
	for _, c := range []struct{ classes, n, d int }{{10, 30, 64}, {20, 30, 64}} {
		x, y := cloud(0, c.classes, c.n, c.d, 1)
		for _, k := range []kernel.Kind{kernel.RBF, kernel.Linear} {
			b.Run(fmt.Sprintf("%s/classes=%d/n=%d/d=%d/chains=10/steps=1", k, c.classes, c.n, c.d), func(b *testing.B) {
				for b.Loop() {
					learn(b, newHead(b, paper(func(cfg *gptree.Config) { gibbs(cfg); cfg.Kernel = k })), x, y)
				}
			})
		}
	}
}

func BenchmarkHeadLogProb(b *testing.B) {
	x, y := cloud(0, 20, 30, 64, 1)
	h := newHead(b, gptree.DefaultConfig())
	learn(b, h, x, y)
	test, _ := cloud(0, 16, 16, 64, 2)
	b.Run("vi/classes=20/rows=256/d=64", func(b *testing.B) {
		for b.Loop() {
			classifiertest.LogProb(b, h, test)
		}
	})
}

// reloaded returns what a saved head is read back as.
func reloaded(t *testing.T, h *gptree.GPTree) *gptree.GPTree {
	t.Helper()
	s := must.Get(h.Save())(t)
	return must.Get(gptree.Load(s))(t)
}
