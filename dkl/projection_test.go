package dkl_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A variant is one of the forms of a head.
type variant struct {
	in  int
	cfg dkl.Config
}

var variants = map[string]variant{
	"linear wider":                 {5, dkl.Config{Dim: 7}},
	"linear narrower":              {7, dkl.Config{Dim: 4}},
	"linear, residual":             {6, dkl.Config{Dim: 6, Residual: true}},
	"hidden":                       {5, dkl.Config{Dim: 4, Hidden: 9}},
	"hidden, residual":             {5, dkl.Config{Dim: 5, Hidden: 8, Residual: true}},
	"hidden, residual, other size": {6, dkl.Config{Dim: 3, Hidden: 7, Residual: true}},
	"one of everything":            {1, dkl.Config{Dim: 1, Hidden: 1, Residual: true}},
}

func normal(rows, cols int, scale float64, seed uint64) blas64.General {
	m := dense.New(rows, cols)
	scatter(m.Data, scale, seed)
	return m
}

func scatter(v []float64, scale float64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range v {
		v[i] = scale * rng.NormFloat64()
	}
}

func newHead(t *testing.T, in int, cfg dkl.Config) *dkl.Projection {
	t.Helper()
	return must.Get(dkl.New(in, cfg))(t)
}

func forward(t *testing.T, h *dkl.Projection, x blas64.General) blas64.General {
	t.Helper()
	z := dense.New(x.Rows, h.Dim())
	must.Do(t, h.Forward(z, x))
	return z
}

func saved(t *testing.T, s classifier.Saver) classifier.State {
	t.Helper()
	return must.Get(s.Save())(t)
}

// byHand computes g_θ(x) of one row from the saved tensors, and the smallest
// distance of the input of a ReLU from its kink.
func byHand(s classifier.State, in int, cfg dkl.Config, x []float64) (z []float64, kink float64) {
	a, kink := x, math.Inf(1)
	if cfg.Hidden > 0 {
		a = times(s.Tensors["hidden.weight"].F64, cfg.Hidden, x)
		for i, b := range s.Tensors["hidden.bias"].F64 {
			kink = min(kink, math.Abs(a[i]+b))
			a[i] = max(0, a[i]+b)
		}
	}
	z = times(s.Tensors["out.weight"].F64, cfg.Dim, a)
	skip := x
	if cfg.Residual && in != cfg.Dim {
		skip = times(s.Tensors["skip.weight"].F64, cfg.Dim, x)
	}
	for i, b := range s.Tensors["out.bias"].F64 {
		z[i] += b
		if cfg.Residual {
			z[i] += skip[i]
		}
	}
	return z, kink
}

func times(w []float64, rows int, x []float64) []float64 {
	out := make([]float64, rows)
	for i := range out {
		for j, v := range x {
			out[i] += w[i*len(x)+j] * v
		}
	}
	return out
}

func TestForwardIsTheFormula(t *testing.T) {
	for name, v := range variants {
		h := newHead(t, v.in, v.cfg)
		scatter(h.Theta(), 0.7, 3)
		x := normal(70, v.in, 1, 4)
		z, state := forward(t, h, x), saved(t, h)
		for i := range 70 {
			want, _ := byHand(state, v.in, v.cfg, x.Data[i*v.in:(i+1)*v.in])
			for j, w := range want {
				if math.Abs(z.Data[i*v.cfg.Dim+j]-w) > 1e-12 {
					t.Fatalf("%s: z(%d,%d) = %g, want %g", name, i, j, z.Data[i*v.cfg.Dim+j], w)
				}
			}
		}
		if h.In() != v.in || h.Dim() != v.cfg.Dim || h.Config() != v.cfg {
			t.Errorf("%s: %d → %d, %+v", name, h.In(), h.Dim(), h.Config())
		}
	}
}

// A row has the same bits alone and in a batch, at any stride.
func TestForwardRowsAreIndependent(t *testing.T) {
	h := newHead(t, 30, dkl.Config{Dim: 200, Hidden: 70, Residual: true})
	wide := normal(65, 33, 1, 1)
	x := blas64.General{Rows: 65, Cols: 30, Stride: 33, Data: wide.Data}
	all := forward(t, h, x)
	for _, i := range []int{0, 63, 64} {
		one := forward(t, h, blas64.General{Rows: 1, Cols: 30, Stride: 30, Data: wide.Data[i*33 : i*33+30]})
		if !slices.Equal(one.Data, all.Data[i*200:(i+1)*200]) {
			t.Errorf("row %d alone is another", i)
		}
	}
	if z := forward(t, h, dense.New(0, 30)); z.Rows != 0 {
		t.Error("rows from nowhere")
	}
}

func TestInitialHeadKeepsDistances(t *testing.T) {
	x := normal(12, 20, 1, 2)
	for name, cfg := range map[string]dkl.Config{
		"linear": {Dim: 50}, "square": {Dim: 20}, "identity": {Dim: 20, Residual: true},
		"a hidden layer and the identity": {Dim: 20, Hidden: 9, Residual: true},
		"hidden beside a wider skip":      {Dim: 50, Hidden: 9, Residual: true},
	} {
		h := newHead(t, 20, cfg)
		z := forward(t, h, x)
		for i := range 12 {
			for k := range i {
				want, got := distance(x, i, k), distance(z, i, k)
				if math.Abs(want-got) > 1e-12 {
					t.Errorf("%s: distance of rows %d and %d: %g, want %g", name, i, k, got, want)
				}
			}
		}
	}
	if z := forward(t, newHead(t, 20, dkl.Config{Dim: 20, Hidden: 9, Residual: true}), x); !slices.Equal(z.Data,
		x.Data) {
		t.Error("a residual head of equal sizes does not start as the identity")
	}
}

func distance(m blas64.General, i, k int) float64 {
	var sum float64
	for j := range m.Cols {
		sum += math.Pow(m.Data[i*m.Stride+j]-m.Data[k*m.Stride+j], 2)
	}
	return math.Sqrt(sum)
}

func TestInitialValues(t *testing.T) {
	narrow := saved(t, newHead(t, 20, dkl.Config{Dim: 8})).Tensors["out.weight"].F64
	for i := range 8 {
		for k := range i + 1 {
			dot := blas64.Dot(blas64.Vector{N: 20, Data: narrow[i*20:], Inc: 1},
				blas64.Vector{N: 20, Data: narrow[k*20:], Inc: 1})
			if want := map[bool]float64{true: 1}[i == k]; math.Abs(dot-want) > 1e-12 {
				t.Errorf("rows %d and %d of a narrower W: %g", i, k, dot)
			}
		}
	}
	hidden := saved(t, newHead(t, 50, dkl.Config{Dim: 4, Hidden: 400})).Tensors
	var sq float64
	for _, v := range hidden["hidden.weight"].F64 {
		sq += v * v
	}
	if he := 2.0 / 50; math.Abs(sq/20000-he) > 0.05*he { // five standard deviations
		t.Errorf("variance of the hidden weights %g, want %g", sq/20000, he)
	}
	for _, name := range []string{"hidden.bias", "out.bias"} {
		if slices.ContainsFunc(hidden[name].F64, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s does not start at 0", name)
		}
	}
}

func TestSeedDecidesInitialValues(t *testing.T) {
	for name, v := range variants {
		cfg := v.cfg
		same := slices.Equal(newHead(t, v.in, cfg).Theta(), newHead(t, v.in, cfg).Theta())
		cfg.Seed = 1
		other := slices.Equal(newHead(t, v.in, cfg).Theta(), newHead(t, v.in, v.cfg).Theta())
		if fixed := cfg.Residual && cfg.Hidden == 0; !same || other != fixed {
			t.Errorf("%s: same seed, same values: %t; other seed, same values: %t", name, same, other)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, c := range []variant{
		{5, dkl.Config{}}, {5, dkl.Config{Dim: -1}}, {5, dkl.Config{Dim: 1 << 17}},
		{5, dkl.Config{Dim: 5, Hidden: -1}}, {5, dkl.Config{Dim: 5, Hidden: 1 << 17}},
		{5, dkl.Config{Dim: 4, Residual: true}}, {0, dkl.Config{Dim: 5}}, {1 << 17, dkl.Config{Dim: 5}},
		{1 << 16, dkl.Config{Dim: 1 << 16}},
	} {
		if _, err := dkl.New(c.in, c.cfg); err == nil {
			t.Errorf("%d → %+v was accepted", c.in, c.cfg)
		}
	}
}

func TestForwardRefuses(t *testing.T) {
	h := newHead(t, 3, dkl.Config{Dim: 2})
	nan := normal(4, 3, 1, 1)
	nan.Data[7] = math.NaN()
	var notFinite *classifier.NotFiniteError
	if err := h.Forward(dense.New(4, 2), nan); !errors.As(err, &notFinite) || notFinite.Row != 2 {
		t.Errorf("NaN: %v", err)
	}
	for name, c := range map[string][2]blas64.General{
		"columns of x": {dense.New(4, 2), dense.New(4, 2)},
		"rows":         {dense.New(3, 2), dense.New(4, 3)},
		"columns":      {dense.New(4, 3), dense.New(4, 3)},
		"bad matrix":   {dense.New(4, 2), {Rows: 4, Cols: 3, Stride: 3, Data: make([]float64, 11)}},
		"too large":    {dense.New(4, 2), normal(4, 3, 1e308, 2)},
	} {
		scatter(h.Theta(), 10, 1)
		if err := h.Forward(c[0], c[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBackwardRefuses(t *testing.T) {
	h := newHead(t, 3, dkl.Config{Dim: 2})
	theta, x, z := make([]float64, len(h.Theta())), normal(4, 3, 1, 1), normal(4, 2, 1, 2)
	nan, none := normal(4, 2, 1, 1), blas64.General{}
	nan.Data[0] = math.NaN()
	nanX := normal(4, 3, 1, 1)
	nanX.Data[0] = math.NaN()
	must.Do(t, h.Backward(theta, none, x, z))
	for name, err := range map[string]error{
		"parameters": h.Backward(theta[1:], none, x, z),
		"no rows":    h.Backward(theta, none, dense.New(0, 3), dense.New(0, 2)),
		"gradX":      h.Backward(theta, dense.New(4, 2), x, z),
		"gradX rows": h.Backward(theta, dense.New(0, 3), x, z),
		"gradZ":      h.Backward(theta, none, x, x),
		"gradZ NaN":  h.Backward(theta, none, x, nan),
		"x NaN":      h.Backward(theta, none, nanX, z),
		"x":          h.Backward(theta, none, z, z),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	h := newHead(t, 20, dkl.Config{Dim: 30, Hidden: 25, Residual: true})
	x := normal(40, 20, 1, 1)
	want := forward(t, h, x)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			z, theta := dense.New(40, 30), make([]float64, len(h.Theta()))
			if err := errors.Join(h.Forward(z, x), h.Backward(theta, blas64.General{}, x, z)); err != nil {
				t.Error(err)
			}
			if !slices.Equal(z.Data, want.Data) {
				t.Error("concurrent calls disturb each other")
			}
		})
	}
	wg.Wait()
}
