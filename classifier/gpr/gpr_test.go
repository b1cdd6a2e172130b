package gpr_test

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
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// data returns n overlapping examples of each of C classes in d dimensions.
func data(C, n, d int, seed uint64) (blas32.General, []string) {
	x := blas32.General{Rows: C * n, Cols: d, Stride: d}
	var y []string
	for c := range C {
		rng := rand.New(rand.NewPCG(seed, uint64(c)))
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = rng.NormFloat64()
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(mean[j]+0.8*rng.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("c%02d", c))
		}
	}
	return x, y
}

func learned(t *testing.T, cfg gpr.Config, x blas32.General, y []string) *gpr.GPR {
	t.Helper()
	h := must.Get(gpr.New(cfg))(t)
	must.Do(t, h.Learn(context.Background(), x, y))
	return h
}

// plain computes eq. 2–4 with dense matrices.
type plain struct {
	x   *mat.Dense
	inv mat.Dense
	t   *mat.Dense
}

func unitRow(x []float32) []float64 {
	v := make([]float64, len(x))
	classifier.Unit(v, x)
	return v
}

func kappa(a, b []float64) float64 {
	var sq float64
	for i := range a {
		sq += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Exp(-sq / 2 / 0.49)
}

func newPlain(x blas32.General, y, classes []string) *plain {
	n := x.Rows
	p := &plain{x: mat.NewDense(n, x.Cols, nil), t: mat.NewDense(n, len(classes), nil)}
	k := mat.NewDense(n, n, nil)
	for i := range n {
		p.x.SetRow(i, unitRow(dense.Row32(x, i)))
		for c, name := range classes {
			p.t.Set(i, c, -1)
			if y[i] == name {
				p.t.Set(i, c, 1)
			}
		}
	}
	for i := range n {
		for j := range n {
			k.Set(i, j, kappa(p.x.RawRowView(i), p.x.RawRowView(j)))
		}
		k.Set(i, i, k.At(i, i)+0.03)
	}
	if err := p.inv.Inverse(k); err != nil {
		panic(err)
	}
	return p
}

// answer returns the means and the variance for one embedding.
func (p *plain) answer(x []float32) ([]float64, float64) {
	n, C := p.t.Dims()
	k := mat.NewVecDense(n, nil)
	for i := range n {
		k.SetVec(i, kappa(p.x.RawRowView(i), unitRow(x)))
	}
	var w, mu mat.VecDense
	w.MulVec(&p.inv, k)
	mu.MulVec(p.t.T(), &w)
	means := make([]float64, C)
	for c := range means {
		means[c] = mu.AtVec(c)
	}
	return means, 1 + 0.03 - mat.Dot(k, &w)
}

func TestEqualsTheEquations(t *testing.T) {
	x, y := data(5, 9, 6, 1)
	h := learned(t, gpr.DefaultConfig(), x, y)
	p := newPlain(x, y, h.Classes())
	q, _ := data(5, 2, 6, 2)
	lp, variance := classifiertest.LogProb(t, h, q), make([]float64, q.Rows)
	must.Do(t, h.Variance(variance, q))
	for i := range q.Rows {
		want, v := p.answer(dense.Row32(q, i))
		for c := range want {
			want[c] /= h.Temperature()
		}
		classifier.LogSoftmax(want)
		for c := range want {
			if math.Abs(lp.Data[i*5+c]-want[c]) > 1e-9 {
				t.Errorf("log p(%d | %d) = %.12g, want %.12g", c, i, lp.Data[i*5+c], want[c])
			}
		}
		if math.Abs(variance[i]-v) > 1e-10 {
			t.Errorf("variance %d = %.12g, want %.12g", i, variance[i], v)
		}
	}
}

// TestTemperatureMinimisesLeaveOneOut checks that the likelihood at τ, with
// each example actually left out of the equations, is no worse than at
// neighbouring values.
func TestTemperatureMinimisesLeaveOneOut(t *testing.T) {
	x, y := data(4, 8, 5, 3)
	h := learned(t, gpr.DefaultConfig(), x, y)
	loss := func(tau float64) float64 {
		var sum float64
		for i := range y {
			rest := slices.Delete(dense.Range(0, len(y)), i, i+1)
			labels := slices.Delete(slices.Clone(y), i, i+1)
			mu, _ := newPlain(dense.Gather32(x, rest), labels, h.Classes()).answer(dense.Row32(x, i))
			for c := range mu {
				mu[c] /= tau
			}
			classifier.LogSoftmax(mu)
			sum -= mu[slices.Index(h.Classes(), y[i])]
		}
		return sum
	}
	tau := h.Temperature()
	best := loss(tau)
	for _, f := range []float64{0.5, 0.9, 0.999, 1.001, 1.1, 2} {
		if other := loss(tau * f); other < best {
			t.Errorf("loss %.10g at τ = %g, %.10g at %g", best, tau, other, tau*f)
		}
	}
	alone := learned(t, gpr.DefaultConfig(), dense.Gather32(x, []int{0, 8}), []string{"a", "b"})
	if alone.Temperature() != 0.25 {
		t.Errorf("τ = %g from one example a class", alone.Temperature())
	}
}

func TestCaps(t *testing.T) {
	x, y := data(3, 40, 6, 4)
	ctx := context.Background()
	h := must.Get(gpr.New(gpr.DefaultConfig()))(t)
	var many *gpr.TooManyError
	if err := h.Learn(ctx, x, y); !errors.As(err, &many) || many.Class != "c00" || many.Examples != 40 ||
		!strings.Contains(err.Error(), "over_cap") {
		t.Errorf("40 of a class: %v", err)
	}
	for _, policy := range []string{gpr.First, gpr.Herd} {
		cfg := with(func(c *gpr.Config) { c.OverCap, c.MaxPerClass, c.MaxTotal = policy, 10, 35 })
		h := learned(t, cfg, x, y)
		if got := examples(t, h); got != 30 {
			t.Errorf("%s keeps %d", policy, got)
		}
		if err := h.Learn(ctx, x, y); err != nil || examples(t, h) != 30 {
			t.Errorf("%s: a full class took more, %v", policy, err)
		}
		more, labels := data(4, 6, 6, 9)
		if err := h.Learn(ctx, more, labels); !errors.As(err, &many) || many.Class != "" || many.Examples != 36 ||
			!strings.Contains(err.Error(), "max_total") {
			t.Errorf("%s: 36 in all: %v", policy, err)
		}
	}
}

func examples(t *testing.T, h *gpr.GPR) int {
	t.Helper()
	s := must.Get(h.Save())(t)
	return len(s.Tensors["class"].I64)
}

// TestHerdFollowsTheMean checks that herding approximates the mean better than
// the first examples do, in any order, and that the selected examples are what
// a head without a cap learns.
func TestHerdFollowsTheMean(t *testing.T) {
	x, y := data(1, 200, 6, 5)
	order := rand.New(rand.NewPCG(1, 1)).Perm(200)
	herd := learned(t, with(func(c *gpr.Config) { c.OverCap = gpr.Herd }), x, y)
	mixed := learned(t, with(func(c *gpr.Config) { c.OverCap = gpr.Herd }), dense.Gather32(x, order), y)
	first := learned(t, with(func(c *gpr.Config) { c.OverCap = gpr.First }), x, y)
	all := mean(x)
	if a, b := distance(mean(kept(t, herd)), all), distance(mean(kept(t, first)), all); a > b/3 {
		t.Errorf("herding is %g off the mean, the first %g", a, b)
	}
	if !reflect.DeepEqual(sorted(kept(t, herd)), sorted(kept(t, mixed))) {
		t.Error("the order of the examples makes a difference")
	}
	again := learned(t, gpr.DefaultConfig(), kept(t, herd), y[:30])
	a, b := classifiertest.LogProb(t, herd, x), classifiertest.LogProb(t, again, x)
	if !slices.Equal(a.Data, b.Data) {
		t.Error("the examples beyond the limit changed the result")
	}
	if err := first.ForgetSamples(dense.Rows32(x, 50, 51), y[:1]); err == nil ||
		!strings.Contains(err.Error(), "not stored") {
		t.Errorf("forgetting what was not stored: %v", err)
	}
}

func kept(t *testing.T, h *gpr.GPR) blas32.General {
	t.Helper()
	s := must.Get(h.Save())(t)
	x := s.Tensors["x"]
	return blas32.General{Rows: x.Shape[0], Cols: x.Shape[1], Stride: x.Shape[1], Data: x.F32}
}

func sorted(x blas32.General) [][]float32 {
	var rows [][]float32
	for i := range x.Rows {
		rows = append(rows, dense.Row32(x, i))
	}
	slices.SortFunc(rows, slices.Compare)
	return rows
}

func mean(x blas32.General) []float64 {
	m := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range unitRow(dense.Row32(x, i)) {
			m[j] += v / float64(x.Rows)
		}
	}
	return m
}

func distance(a, b []float64) float64 {
	var sq float64
	for i := range a {
		sq += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sq)
}

// TestAutoChoosesTheLargestEvidence checks that the choice is recorded, that
// the head equals one with the chosen values given, and that a later session
// does not change it.
func TestAutoChoosesTheLargestEvidence(t *testing.T) {
	x, y := data(6, 20, 8, 6)
	auto := with(func(c *gpr.Config) { c.Lengthscale, c.Noise = gpr.Auto, gpr.Auto })
	h := learned(t, auto, x, y)
	c := h.Choice()
	if len(c.Evidence) != 49 || c.Examples != 120 {
		t.Fatalf("%d candidates on %d examples", len(c.Evidence), c.Examples)
	}
	for _, e := range c.Evidence {
		mine := c.Evidence[slices.IndexFunc(c.Evidence,
			func(o gpr.Evidence) bool { return o.Lengthscale == c.Lengthscale && o.Noise == c.Noise })]
		if e.PerLabel > mine.PerLabel {
			t.Errorf("chose %+v, but %+v", mine, e)
		}
		if want := plainEvidence(x, y, h.Classes(), e.Lengthscale, e.Noise); math.Abs(e.PerLabel-want) > 1e-8 {
			t.Errorf("evidence %+v, want %.10g", e, want)
		}
	}
	given := learned(t, with(func(g *gpr.Config) { g.Lengthscale, g.Noise = c.Lengthscale, c.Noise }), x, y)
	if !slices.Equal(classifiertest.LogProb(t, h, x).Data, classifiertest.LogProb(t, given, x).Data) ||
		given.Choice() != nil {
		t.Error("differs from a head that was given what was chosen")
	}
	more, labels := data(8, 4, 8, 7)
	if err := h.Learn(context.Background(), more, labels); err != nil || !reflect.DeepEqual(h.Choice(), c) {
		t.Errorf("a later session changed the choice, %v", err)
	}
	if l, s := h.Hyperparameters(); l != c.Lengthscale || s != c.Noise {
		t.Errorf("in use: %g, %g", l, s)
	}
	one := learned(t, with(func(g *gpr.Config) { g.Noise = gpr.Auto }), x, y)
	if l, _ := one.Hyperparameters(); l != 0.7 || len(one.Choice().Evidence) != 7 {
		t.Errorf("want only the noise chosen: ℓ = %g, %d candidates", l, len(one.Choice().Evidence))
	}
}

// plainEvidence returns the log-density of the centred labels under s(K+σ²I) at
// the best s on a fine grid.
func plainEvidence(x blas32.General, y, classes []string, lengthscale, noise float64) float64 {
	n, C := x.Rows, len(classes)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a, b := unitRow(dense.Row32(x, i)), unitRow(dense.Row32(x, j))
			k.SetSym(i, j, math.Pow(kappa(a, b), 0.49/lengthscale/lengthscale))
		}
		k.SetSym(i, i, 1+noise)
	}
	var chol mat.Cholesky
	chol.Factorize(k)
	var quad float64
	for _, c := range classes {
		t := mat.NewVecDense(n, nil)
		for i := range n {
			if y[i] == c {
				t.SetVec(i, 2-2/float64(C))
			} else {
				t.SetVec(i, -2/float64(C))
			}
		}
		var w mat.VecDense
		if err := chol.SolveVecTo(&w, t); err != nil {
			panic(err)
		}
		quad += mat.Dot(t, &w)
	}
	labels := float64(n * C)
	best := math.Inf(-1)
	for logS := -14.0; logS < 10; logS += 1e-4 {
		best = max(best, -logS/2-quad/labels*math.Exp(-logS)/2)
	}
	return best - math.Log(2*math.Pi)/2 - chol.LogDet()/float64(n)/2
}

func TestConfigNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*gpr.Config){
		"kernel":        func(c *gpr.Config) { c.Kernel = "cubic" },
		"lengthscale":   func(c *gpr.Config) { c.Lengthscale = -1 },
		"noise":         func(c *gpr.Config) { c.Noise = math.NaN() },
		"update":        func(c *gpr.Config) { c.Update = "" },
		"max_per_class": func(c *gpr.Config) { c.MaxPerClass = 0 },
		"max_total":     func(c *gpr.Config) { c.MaxTotal = 1 << 30 },
		"over_cap":      func(c *gpr.Config) { c.OverCap = "drop" },
	} {
		if _, err := gpr.New(with(change)); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestForgedSettings checks that inconsistent settings are refused.
func TestForgedSettings(t *testing.T) {
	x, y := data(3, 5, 4, 8)
	h := learned(t, with(func(c *gpr.Config) { c.Noise = gpr.Auto }), x, y)
	for name, replace := range map[string][2]string{
		"temperature": {`"temperature":`, `"temperature":-`},
		"lengthscale": {`"lengthscale":0.7,"noise":0.`, `"lengthscale":0.9,"noise":0.`},
		"no choice":   {`"choice"`, `"other"`}, "given as well": {`"noise":0,`, `"noise":0.5,`},
		"class twice":    {`"c01"`, `"c02"`},
		"one class more": {`"c02"`, `"c02","c03"`}, "dimension": {`"dim":4`, `"dim":3`},
		"changes": {`"changes":0`, `"changes":-1`}, "caps": {`"max_total":5000`, `"max_total":0`},
	} {
		s := must.Get(h.Save())(t)
		forged := strings.Replace(string(s.Settings), replace[0], replace[1], 1)
		if forged == string(s.Settings) {
			t.Fatalf("%s: nothing to forge in %s", name, forged)
		}
		s.Settings = []byte(forged)
		if _, err := gpr.Load(s); err == nil {
			t.Errorf("%s: was loaded", name)
		}
	}
}
