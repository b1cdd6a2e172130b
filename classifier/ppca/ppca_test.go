package ppca_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/linalg/native/nativetest"
)

// cloud returns n rows of d values around offset, with standard deviations that
// fall from wide by the factor 0.8 per coordinate, turned by a fixed
// reflection.
func cloud(n, d int, offset, wide float64, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	row := make([]float64, d)
	for i := range n {
		mean, scale := 0.0, wide
		for j := range row {
			row[j] = scale * rng.NormFloat64()
			mean += 2 * row[j] / float64(d)
			scale *= 0.8
		}
		for j := range row {
			x.Data[i*d+j] = float32(offset + row[j] - mean) // I − 2·11ᵀ/d is a reflection
		}
	}
	return x
}

func labels(n int, class string) []string { return slices.Repeat([]string{class}, n) }

func learned(t *testing.T, cfg ppca.Config, x blas32.General, y []string) *ppca.PPCA {
	t.Helper()
	h := must.Get(ppca.New(cfg))(t)
	must.Do(t, h.Learn(context.Background(), x, y))
	return h
}

// denseGaussian is N(μ, L·D·Lᵀ + λI) written out (eq. 2.5 to 2.9), in float64.
type denseGaussian struct {
	mean   []float64
	chol   mat.Cholesky
	d      int
	lambda float64
}

func denseModel(t *testing.T, x blas32.General, q int, lambda float64) *denseGaussian {
	t.Helper()
	n, d := x.Rows, x.Cols
	m := &denseGaussian{mean: make([]float64, d), d: d, lambda: lambda}
	for i := range n {
		for j := range d {
			m.mean[j] += float64(x.Data[i*d+j]) / float64(n)
		}
	}
	S := mat.NewSymDense(d, nil)
	for i := range n {
		r := make([]float64, d)
		for j := range d {
			r[j] = float64(x.Data[i*d+j]) - m.mean[j]
		}
		S.SymRankOne(S, 1/float64(max(n-1, 1)), mat.NewVecDense(d, r))
	}
	var e mat.EigenSym
	if !e.Factorize(S, true) {
		t.Fatal("eigen")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	sigma := mat.NewSymDense(d, nil)
	for j := range d {
		sigma.SetSym(j, j, lambda)
	}
	for k := range min(q, d) {
		sigma.SymRankOne(sigma, e.Values(nil)[d-1-k], v.ColView(d-1-k))
	}
	if !m.chol.Factorize(sigma) {
		t.Fatal("cholesky")
	}
	return m
}

func (m *denseGaussian) r(x []float32) float64 {
	delta, y := mat.NewVecDense(m.d, nil), mat.NewVecDense(m.d, nil)
	for j, v := range x {
		delta.SetVec(j, float64(v)-m.mean[j])
	}
	if err := m.chol.SolveVecTo(y, delta); err != nil {
		return math.NaN()
	}
	return mat.Dot(delta, y)
}

func (m *denseGaussian) trace() float64 {
	var sigma mat.SymDense
	m.chol.ToSym(&sigma)
	return mat.Trace(&sigma)
}

// score returns −½(r + log|Σ| − d·log λ).
func (m *denseGaussian) score(x []float32) float64 {
	return -(m.r(x) + m.chol.LogDet() - float64(m.d)*math.Log(m.lambda)) / 2
}

// raw takes embeddings as they are. Without log-determinant its scores are −r/2; the novelty of a
// single class is r/2.
func raw(q int, lambda float64, logDet bool) ppca.Config {
	return config(func(c *ppca.Config) {
		c.Q, c.Lambda, c.Normalize, c.LogDet = q, lambda, new(false), new(logDet)
	})
}

// TestTheorem1EqualsDense compares r itself, for n and q smaller and larger than each other and than d.
func TestTheorem1EqualsDense(t *testing.T) {
	const d = 16
	for _, n := range []int{1, 2, 5, 16, 17, 200} {
		for _, q := range []int{0, 3, d, 2 * d} {
			x := cloud(n, d, 0.5, 1, 1)
			h, want := learned(t, raw(q, 0.01, false), x, labels(n, "a")), denseModel(t, x, q, 0.01)
			queries := cloud(20, d, 0.4, 1, 2)
			got := make([]float64, 20)
			must.Do(t, h.Score(dense.New(len(got), len(h.Classes())), got, queries))
			for i, half := range got {
				r := 2 * half
				if w := want.r(dense.Row32(queries, i)); math.Abs(r-w) > 1e-4*w {
					t.Errorf("n=%d q=%d: r = %.8g, denseGaussian %.8g", n, q, r, w)
				}
			}
		}
	}
}

// TestLogProbEqualsDense uses several classes, with log-determinant (eq. 2.11).
// With q = d the model is N(μ, S + λI).
func TestLogProbEqualsDense(t *testing.T) {
	const d = 12
	for _, q := range []int{4, d} {
		a, b, c := cloud(50, d, 0, 1, 1), cloud(8, d, 0.3, 0.5, 2), cloud(1, d, -0.3, 1, 3)
		x := blas32.General{Rows: 59, Cols: d, Stride: d, Data: slices.Concat(a.Data, b.Data, c.Data)}
		h := learned(t, raw(q, 0.05, true), x, slices.Concat(labels(50, "a"), labels(8, "b"), labels(1, "c")))
		queries := cloud(30, d, 0.1, 1, 4)
		got := blas64.General{Rows: 30, Cols: 3, Stride: 3, Data: make([]float64, 90)}
		must.Do(t, h.Score(got, nil, queries))
		models := []*denseGaussian{denseModel(t, a, q, 0.05), denseModel(t, b, q, 0.05), denseModel(t, c, q, 0.05)}
		for i := range 30 {
			want := make([]float64, 3)
			for k, m := range models {
				want[k] = m.score(dense.Row32(queries, i))
			}
			classifier.LogSoftmax(want)
			for k := range want {
				if math.Abs(got.Data[3*i+k]-want[k]) > 1e-4*(1+math.Abs(want[k])) {
					t.Errorf("q=%d: log p(%d | %d) = %.8g, denseGaussian %.8g", q, k, i, got.Data[3*i+k], want[k])
				}
			}
		}
	}
}

// denseBackground returns the score of N(m, v·I) of the moments of all models, which is 0 for a
// single one.
func denseBackground(models []*denseGaussian, logDet bool) func(x []float32) float64 {
	if len(models) == 1 {
		return func([]float32) float64 { return 0 }
	}
	d := models[0].d
	mean, square, traces := make([]float64, d), 0.0, 0.0
	for _, m := range models {
		for j, v := range m.mean {
			mean[j] += v / float64(len(models))
			square += v * v / float64(len(models))
		}
		traces += m.trace() / float64(len(models))
	}
	v := (traces + square - dense.SumSquares(mean)) / float64(d) // law of total variance
	return func(x []float32) float64 {
		score := 0.0
		for j, u := range x {
			score -= (float64(u) - mean[j]) * (float64(u) - mean[j]) / v / 2
		}
		if logDet {
			score -= float64(d) * math.Log(v/models[0].lambda) / 2
		}
		return score
	}
}

// The novelty compares the classes with N(m, v·I) of the moments of all of them; a single
// class is compared with nothing.
func TestNoveltyEqualsDense(t *testing.T) {
	const d, q, lambda = 12, 4, 0.05
	clouds := []blas32.General{cloud(50, d, 0, 1, 1), cloud(8, d, 0.3, 0.5, 2), cloud(1, d, -0.3, 1, 3)}
	queries := cloud(30, d, 0.1, 1, 4)
	for _, logDet := range []bool{true, false} {
		for classes := 1; classes <= len(clouds); classes++ {
			var data []float32
			var y []string
			var models []*denseGaussian
			for i, c := range clouds[:classes] {
				m := denseModel(t, c, q, lambda)
				data, models = append(data, c.Data...), append(models, m)
				y = append(y, labels(c.Rows, string(rune('a'+i)))...)
			}
			background := denseBackground(models, logDet)
			h := learned(t, raw(q, lambda, logDet), blas32.General{Rows: len(y), Cols: d, Stride: d, Data: data}, y)
			got := make([]float64, queries.Rows)
			must.Do(t, h.Score(dense.New(len(got), classes), got, queries))
			for i := range got {
				x := dense.Row32(queries, i)
				best := math.Inf(-1)
				for _, m := range models {
					s := -m.r(x) / 2
					if logDet {
						s = m.score(x)
					}
					best = max(best, s)
				}
				if want := background(x) - best; math.Abs(got[i]-want) > 1e-4*(1+math.Abs(best)) {
					t.Errorf("%d classes, log-determinant %v: %.8g, want %.8g", classes, logDet, got[i], want)
				}
			}
		}
	}
}

// TestCancellation checks that the guard keeps r accurate to 1e-4 where D is
// 10⁵ times λ, or an offset is much larger than the spread, so that float32
// alone loses r completely.
func TestCancellation(t *testing.T) { nativetest.Each(t, cancellation) }

func cancellation(t *testing.T, m linalg.Backend) {
	const d, q, lambda = 32, 20, 1e-3
	for name, c := range map[string]struct{ offset, wide float64 }{"small λ": {0, 10}, "offset": {300, 1},
		"both": {300, 10}} {
		a, b := cloud(400, d, c.offset, c.wide, 1), cloud(400, d, -c.offset, c.wide, 2)
		x := blas32.General{Rows: 800, Cols: d, Stride: d, Data: slices.Concat(a.Data, b.Data)}
		y := append(labels(400, "a"), labels(400, "b")...)
		h := learned(t, raw(q, lambda, false), x, y)
		h.UseBackend(m)
		want := denseModel(t, a, q, lambda)
		queries := cloud(50, d, c.offset, c.wide, 3)
		got := make([]float64, 50)
		must.Do(t, h.Score(dense.New(len(got), len(h.Classes())), got, queries))
		other := denseModel(t, b, q, lambda)
		background := denseBackground([]*denseGaussian{want, other}, false)
		worst, worstNaive := 0.0, 0.0
		for i, novelty := range got {
			row := dense.Row32(queries, i)
			r := 2 * (novelty - background(row))
			w := min(want.r(row), other.r(row))
			worst = max(worst, math.Abs(r-w)/w)
			worstNaive = max(worstNaive, math.Abs(naive(want, row, lambda)-want.r(row))/want.r(row))
		}
		t.Logf("%s: relative error %.1e, float32 throughout %.1e", name, worst, worstNaive)
		if worst > 1e-4 {
			t.Errorf("%s: relative error %.1e", name, worst)
		}
		if worstNaive < 1e-3 {
			t.Errorf("%s: float32 would have done (%.1e): the test shows nothing", name, worstNaive)
		}
	}
}

// naive computes (‖x‖² − 2xᵀμ + ‖μ‖² − ‖u‖²)/λ in float32. ‖u‖² follows from
// the denseGaussian r in float64 and is rounded once, which is more accurate
// than a product.
func naive(m *denseGaussian, x []float32, lambda float64) float64 {
	var xx, xm, mm, exactSq float64
	var fxx, fxm, fmm float32
	for j, v := range x {
		mu := float32(m.mean[j])
		fxx, fxm, fmm = fxx+v*v, fxm+v*mu, fmm+mu*mu
		xx, xm, mm = xx+float64(v)*float64(v), xm+float64(v)*m.mean[j], mm+m.mean[j]*m.mean[j]
		exactSq += (float64(v) - m.mean[j]) * (float64(v) - m.mean[j])
	}
	u2 := float32(exactSq - lambda*m.r(x))
	return float64((fxx-2*fxm+fmm)-u2) / lambda
}

func TestFewExamples(t *testing.T) {
	one := cloud(1, 6, 0, 1, 1)
	twice := blas32.General{Rows: 2, Cols: 6, Stride: 6, Data: slices.Concat(one.Data, one.Data)}
	q := cloud(1, 6, 0, 1, 2)
	want := 0.0
	for j, v := range q.Data {
		want += math.Pow(float64(v)-float64(one.Data[j]), 2) / 0.01
	}
	for _, x := range []blas32.General{one, twice} {
		got := make([]float64, 1)
		must.Do(t, learned(t, raw(20, 0.01, false), x, labels(x.Rows, "a")).Score(dense.New(q.Rows, 1), got,
			q))
		if r := 2 * got[0]; math.Abs(r-want) > 1e-9*want {
			t.Errorf("%d equal examples: r = %g, want ‖x−μ‖²/λ = %g", x.Rows, r, want)
		}
	}
}

func TestStatisticsSwitchedOff(t *testing.T) {
	x := cloud(8, 6, 0, 1, 1)
	h := learned(t, config(func(c *ppca.Config) { c.Statistics = false }), x, labels(8, "a"))
	err := h.Learn(context.Background(), x, labels(8, "a"))
	if !errors.Is(err, classifier.ErrNoStatistics) ||
		!strings.Contains(err.Error(), "statistics side file is missing") {
		t.Errorf("learn: %v", err)
	}
	if err := h.ForgetSamples(x, labels(8, "a")); !errors.Is(err, classifier.ErrNoStatistics) {
		t.Errorf("forget samples: %v", err)
	}
	if err := h.Learn(context.Background(), x, labels(8, "b")); err != nil {
		t.Errorf("a new class needs no statistics: %v", err)
	}
}

func TestPresets(t *testing.T) {
	for _, c := range []struct {
		cfg               ppca.Config
		normalize, logDet bool
	}{
		{ppca.DefaultConfig(), true, true},
		{config(func(c *ppca.Config) { c.Preset = "paper" }), false, false},
		{config(func(c *ppca.Config) { c.Preset, c.Normalize = "paper", new(true) }), true, false},
		{config(func(c *ppca.Config) { c.LogDet = new(false) }), true, false},
	} {
		if r := c.cfg.Resolve(); *r.Normalize != c.normalize || *r.LogDet != c.logDet {
			t.Errorf("%+v: normalize %v, logdet %v", c.cfg, *r.Normalize, *r.LogDet)
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*ppca.Config){
		"preset": func(c *ppca.Config) { c.Preset = "" }, "q": func(c *ppca.Config) { c.Q = -1 },
		"lambda": func(c *ppca.Config) { c.Lambda = math.NaN() },
	} {
		if err := config(change).Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkPPCAFit(b *testing.B) {
	for _, c := range []struct{ n, d int }{{500, 640}, {1300, 640}, {500, 2560}} {
		x, y := cloud(c.n, c.d, 0, 1, 1), labels(c.n, "a")
		b.Run(fmt.Sprintf("n=%d_d=%d_q=20", c.n, c.d), func(b *testing.B) {
			for b.Loop() {
				h := must.Get(ppca.New(ppca.DefaultConfig()))(b)
				must.Do(b, h.Learn(context.Background(), x, y))
			}
		})
	}
}

func BenchmarkPPCAScore(b *testing.B) {
	const n, d = 256, 640
	for _, K := range []int{10, 100, 1000} {
		h := must.Get(ppca.New(config(func(c *ppca.Config) { c.Statistics = false })))(b)
		x := cloud(24*K, d, 0, 1, 1)
		y := make([]string, 24*K)
		for i := range y {
			y[i] = fmt.Sprint("c", i%K)
		}
		must.Do(b, h.Learn(context.Background(), x, y))
		q := cloud(n, d, 0, 1, 2)
		dst := blas64.General{Rows: n, Cols: K, Stride: K, Data: make([]float64, n*K)}
		b.Run(fmt.Sprintf("K=%d_d=%d_q=20_n=%d", K, d, n), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, h.Score(dst, nil, q))
			}
			b.ReportMetric(2*float64(n*d*20*K)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
