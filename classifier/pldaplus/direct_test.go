package pldaplus_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// data returns n examples of each of C classes in d dimensions, numbered from
// first on. Classes differ in mean and in how they vary.
func data(first, C, n, d int, seed uint64) (blas32.General, []string) {
	x := blas32.General{Rows: C * n, Cols: d, Stride: d}
	var y []string
	for c := first; c < first+C; c++ {
		centre := rand.New(rand.NewPCG(5, uint64(c)))
		rng := rand.New(rand.NewPCG(seed, uint64(c)))
		mean, wide := make([]float64, d), make([]float64, d)
		for j := range mean {
			mean[j], wide[j] = centre.NormFloat64(), math.Exp(0.7*centre.NormFloat64())/float64(1+j%3)
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(1+mean[j]+wide[j]*rng.NormFloat64()))
			}
			y = append(y, fmt.Sprintf("c%03d", c))
		}
	}
	return x, y
}

func learned(t *testing.T, method string, cfg pldaplus.Config, x blas32.General, y []string) *pldaplus.Head {
	t.Helper()
	h := must.Get(pldaplus.New(method, cfg))(t)
	learn(t, h, x, y)
	return h
}

func learn(t *testing.T, h classifier.Learner, x blas32.General, y []string) {
	t.Helper()
	must.Do(t, h.Learn(context.Background(), x, y))
}

// near compares two heads with the same columns.
func near(t *testing.T, what string, a, b classifier.Head, x blas32.General, tol float64) {
	t.Helper()
	got, want := classifiertest.LogProb(t, a, x), classifiertest.LogProb(t, b, x)
	for i, v := range want.Data {
		if math.Abs(got.Data[i]-v) > tol*(1+math.Abs(v)) {
			t.Fatalf("%s: log-probability %d is %.12g, want %.12g", what, i, got.Data[i], v)
		}
	}
}

// direct is the head computed directly from its formula, with dense matrices:
// z = Vᵀ(x−m₀), BV = WVΛ.
type direct struct {
	cfg  pldaplus.Config
	d    int
	m0   *mat.VecDense
	P    mat.Dense
	beta []float64
	rows map[string][]*mat.VecDense // z
}

func newDirect(x blas32.General, y []string, cfg pldaplus.Config) *direct {
	m := &direct{cfg: cfg, d: x.Cols, m0: mat.NewVecDense(x.Cols, nil), rows: map[string][]*mat.VecDense{}}
	m.P.CloneFrom(mat.NewDiagDense(m.d, ones(m.d)))
	m.add(x, y)
	C := float64(len(m.rows))
	noise := 0.0
	means := map[string]*mat.VecDense{}
	S := mat.NewSymDense(m.d, nil)
	for c, rows := range m.rows {
		means[c] = m.meanOf(rows)
		m.m0.AddScaledVec(m.m0, 1/C, means[c])
		noise += 1 / float64(len(rows)) / C
		for _, z := range rows {
			var r mat.VecDense
			r.SubVec(z, means[c])
			S.SymRankOne(S, 1/(float64(len(y))-C), &r)
		}
	}
	W := mat.NewSymDense(m.d, nil)
	W.ScaleSym(1-cfg.Epsilon, S)
	for j := range m.d {
		W.SetSym(j, j, W.At(j, j)+cfg.Epsilon*mat.Trace(S)/float64(m.d))
	}
	var chol mat.Cholesky
	chol.Factorize(W)
	var L mat.TriDense
	chol.LTo(&L)
	if err := L.InverseTri(&L); err != nil {
		panic(err)
	}
	B := mat.NewSymDense(m.d, nil)
	for _, mean := range means {
		var r, w mat.VecDense
		r.SubVec(mean, m.m0)
		w.MulVec(&L, &r)
		B.SymRankOne(B, 1/(C-1), &w)
	}
	values, V := eigen(B)
	m.P.Reset()
	m.P.Mul(V.T(), &L)
	m.setBeta(values, noise)
	m.rows = map[string][]*mat.VecDense{}
	m.add(x, y)
	return m
}

func (m *direct) setBeta(values []float64, noise float64) {
	m.beta = values
	var mean float64
	for i := range m.beta {
		m.beta[i] = math.Max(m.beta[i]-noise, 1e-6)
		mean += m.beta[i] / float64(m.d)
	}
	for i := range m.beta {
		m.beta[i] = m.beta[i]/2 + mean/2
	}
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

func (m *direct) meanOf(rows []*mat.VecDense) *mat.VecDense {
	mean := mat.NewVecDense(m.d, nil)
	for _, z := range rows {
		mean.AddScaledVec(mean, 1/float64(len(rows)), z)
	}
	return mean
}

// eigen returns all eigenpairs, ascending.
func eigen(S *mat.SymDense) ([]float64, *mat.Dense) {
	var e mat.EigenSym
	e.Factorize(S, true)
	var V mat.Dense
	e.VectorsTo(&V)
	return e.Values(nil), &V
}

func (m *direct) place(x []float32) *mat.VecDense {
	v := make([]float64, len(x))
	classifier.Unit(v, x)
	var dx, z mat.VecDense
	dx.SubVec(mat.NewVecDense(len(v), v), m.m0)
	z.MulVec(&m.P, &dx)
	return &z
}

func (m *direct) add(x blas32.General, y []string) {
	for i, c := range y {
		m.rows[c] = append(m.rows[c], m.place(dense.Row32(x, i)))
	}
}

// scale returns C_c, and a.
func (m *direct) scale(rows []*mat.VecDense, mean *mat.VecDense, nu float64) (*mat.SymDense, float64) {
	n := float64(len(rows))
	C, S := mat.NewSymDense(m.d, nil), mat.NewSymDense(m.d, nil)
	for _, z := range rows {
		var r mat.VecDense
		r.SubVec(z, mean)
		S.SymRankOne(S, 1/math.Max(n-1, 1), &r)
	}
	w, U := eigen(S)
	q := min(m.cfg.Q, max(len(rows)-1, 0), m.d)
	residual := 0.0
	for i := range m.d - q {
		residual += math.Max(w[i], 0) / float64(m.d-q)
	}
	rho := (n - 1) / (n - 1 + nu)
	if nu >= pldaplus.Pooled {
		rho = 0
	}
	if len(rows) <= 1 {
		rho, residual = 0, 0
	}
	a := 1 - rho + rho*residual
	for i := range m.d {
		v := m.beta[i] / (1 + n*m.beta[i])
		if !m.cfg.Uncertain && n > 0 {
			v = 0
		}
		C.SetSym(i, i, a+v)
	}
	for k := range q {
		C.SymRankOne(C, rho*math.Max(w[m.d-1-k]-residual, 0), U.ColView(m.d-1-k))
	}
	return C, a
}

// lengthening returns the factor of μ, at most 2 and at least ½.
func (m *direct) lengthening(mean *mat.VecDense, n, a float64) float64 {
	var measured, expected float64
	for i, b := range m.beta {
		precision := 1 / (a + b/(1+n*b))
		measured += precision * b * n / (1 + b*n) * mean.AtVec(i) * mean.AtVec(i)
		expected += precision * b
	}
	if !m.cfg.Uncertain || measured == 0 {
		return 1
	}
	return math.Min(math.Max(math.Pow(expected/measured, m.cfg.MeanLength/2), 0.5), 2)
}

// logDensity returns ℓ_c without (2π)^(−d/2).
func (m *direct) logDensity(z *mat.VecDense, class string, nu float64) float64 {
	rows := m.rows[class]
	n, d := float64(len(rows)), float64(m.d)
	mean := m.meanOf(rows)
	C, a := m.scale(rows, mean, nu)
	longer := m.lengthening(mean, n, a)
	delta := mat.NewVecDense(m.d, nil)
	for i, b := range m.beta {
		gain := b * n / (1 + b*n)
		if !m.cfg.Uncertain && n > 0 {
			gain = 1
		}
		delta.SetVec(i, z.AtVec(i)-longer*gain*mean.AtVec(i))
	}
	var chol mat.Cholesky
	if !chol.Factorize(C) {
		panic("not positive definite")
	}
	var y mat.VecDense
	if err := chol.SolveVecTo(&y, delta); err != nil {
		panic(err)
	}
	r := mat.Dot(delta, &y)
	df := nu + math.Max(n-1, 0)
	if !m.cfg.Student || nu >= pldaplus.Pooled {
		return -(r + chol.LogDet()) / 2
	}
	above, _ := math.Lgamma((df + d) / 2)
	below, _ := math.Lgamma(df / 2)
	return above - below - d/2*math.Log(df/2) - chol.LogDet()/2 - (df+d)/2*math.Log1p(r/df)
}

// score returns s_c for all classes, with the saved setting and regression of
// h.
func (m *direct) scores(t *testing.T, h *pldaplus.Head, z *mat.VecDense) []float64 {
	t.Helper()
	set := h.Setting()
	state := must.Get(h.Save())(t)
	base, logits := state.Tensors["base"].I64, state.Tensors["logits"].F64
	out := make([]float64, len(h.Classes()))
	var own, rank []float64
	var L mat.Dense // logits belong to L⁻¹(x−m₀), which Vᵀ turns into z
	L.Mul(m.P.T(), mat.NewDiagDense(m.d, ones(m.d)))
	for i, c := range h.Classes() {
		mean := m.meanOf(m.rows[c])
		var cosine float64
		if length := mat.Norm(mean, 2); length > 0 {
			cosine = mat.Dot(z, mean) / mat.Norm(z, 2) / length
		}
		out[i] = (m.logDensity(z, c, set.Nu) + set.Kappa*cosine) / set.Temperature
		if base[i] == 0 {
			out[i] += set.Later
		} else {
			own = append(own, out[i])
		}
	}
	if set.Rerank == 0 {
		return out
	}
	white := m.whitened(t, state, z)
	for k := 0; k*(m.d+1) < len(logits); k++ {
		row := logits[k*(m.d+1) : (k+1)*(m.d+1)]
		rank = append(rank, set.Rerank*(row[m.d]+mat.Dot(white, mat.NewVecDense(m.d, row[:m.d]))))
	}
	mass := classifier.LogSumExp(own)
	classifier.LogSoftmax(rank)
	k := 0
	for i := range out {
		if base[i] == 1 {
			out[i] = mass + rank[k]
			k++
		}
	}
	return out
}

// whitened converts z back to the coordinates of the saved regression.
func (m *direct) whitened(t *testing.T, s classifier.State, z *mat.VecDense) *mat.VecDense {
	t.Helper()
	var x, white mat.VecDense
	must.Do(t, x.SolveVec(&m.P, z))
	white.MulVec(mat.NewDense(m.d, m.d, s.Tensors["whiten"].F64), &x)
	return &white
}

// TestEqualsDirectFormula covers all switches, fewer and more classes than
// dimensions, n smaller and larger than q and d, n = 1 and 0, and more examples of
// an old class.
func TestEqualsDirectFormula(t *testing.T) {
	for _, c := range []struct{ C, n, d, q int }{{5, 20, 8, 20}, {12, 9, 8, 3}, {3, 4, 30, 20}, {4, 40, 8, 5},
		{20, 3, 12, 0}, {3, 30, 6, 6}} {
		for _, nu := range []float64{1e-3, 5, 1000, pldaplus.Pooled} {
			for k := range 4 {
				cfg := config(pldaplus.DefaultPPCAEB(), func(f *pldaplus.Config) {
					f.Q, f.Nu, f.Student, f.Uncertain = c.q, nu, k&1 > 0, k&2 > 0
				})
				x, y := data(0, c.C, c.n, c.d, 1)
				h, want := learned(t, pldaplus.PPCAEB, cfg, x, y), newDirect(x, y, cfg)
				more, _ := data(0, 7, 1, c.d, 2)
				labels := []string{"c001", "new five", "new five", "new five", "new one", "new five", "new five"}
				learn(t, h, more, labels)
				want.add(more, labels)
				must.Do(t, h.Expect("c000", "expected"))
				compare(t, fmt.Sprintf("%+v ν=%g student %v uncertain %v", c, nu, cfg.Student, cfg.Uncertain), h, want)
			}
		}
	}
}

func compare(t *testing.T, what string, h *pldaplus.Head, want *direct) {
	t.Helper()
	queries, _ := data(0, 6, 3, want.d, 3)
	got := classifiertest.LogProb(t, h, queries)
	for i := range queries.Rows {
		scores := want.scores(t, h, want.place(dense.Row32(queries, i)))
		classifier.LogSoftmax(scores)
		for k, s := range scores {
			if v := got.Data[i*got.Stride+k]; math.Abs(v-s) > 3e-5*(1+math.Abs(s)) {
				t.Fatalf("%s: log p(%s | %d) = %.10g, direct %.10g", what, h.Classes()[k], i, v, s)
			}
		}
	}
}

// TestCalibratedEqualsDirectFormula checks that the base session of many
// classes chooses a calibration, and that base mass, κ, T, b and g follow the
// formula.
func TestCalibratedEqualsDirectFormula(t *testing.T) {
	x, y := data(0, 12, 30, 10, 1)
	cfg := pldaplus.DefaultPLDAPlus()
	h, want := learned(t, pldaplus.PLDAPlus, cfg, x, y), newDirect(x, y, cfg)
	more, labels := data(20, 3, 5, 10, 2)
	learn(t, h, more, labels)
	want.add(more, labels)
	compare(t, "chosen", h, want)
	for _, g := range []float64{0, 0.5, 2} {
		forced := h.With(pldaplus.Setting{Nu: 100, Kappa: 30, Temperature: 4, Later: 1.5, Rerank: g}, x, y)
		must.Do(t, forced.Expect("expected"))
		compare(t, fmt.Sprintf("g=%g", g), forced, want)
	}
}
