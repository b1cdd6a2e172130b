package plda_test

import (
	"context"
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
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// data returns n examples of each of C classes in d dimensions.
func data(C, n, d int, seed uint64) (blas32.General, []string) {
	x := blas32.General{Rows: C * n, Cols: d, Stride: d}
	var y []string
	for c := range C {
		centre := rand.New(rand.NewPCG(seed, uint64(c)))
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = centre.NormFloat64()
		}
		for range n {
			for j := range d {
				x.Data = append(x.Data, float32(1+mean[j]+0.7*centre.NormFloat64()/float64(1+j%5)))
			}
			y = append(y, fmt.Sprintf("c%03d", c))
		}
	}
	return x, y
}

// direct is the model computed directly from its formula, with full d×d
// eigenvectors.
type direct struct {
	d      int
	m0     *mat.VecDense
	P      mat.Dense
	beta   []float64
	counts map[string]int
	means  map[string]*mat.VecDense
}

func unit(x []float32) *mat.VecDense {
	v := make([]float64, len(x))
	classifier.Unit(v, x)
	return mat.NewVecDense(len(v), v)
}

func newDirect(x blas32.General, y []string, epsilon float64) *direct {
	m := &direct{d: x.Cols, m0: mat.NewVecDense(x.Cols, nil), counts: map[string]int{},
		means: map[string]*mat.VecDense{}}
	m.add(x, y)
	C := float64(len(m.means))
	var noise float64
	for c, mean := range m.means {
		m.m0.AddScaledVec(m.m0, 1/C, mean)
		noise += 1 / float64(m.counts[c]) / C
	}
	S := mat.NewSymDense(m.d, nil)
	for i, c := range y {
		var r mat.VecDense
		r.SubVec(unit(dense.Row32(x, i)), m.means[c])
		S.SymRankOne(S, 1/(float64(len(y))-C), &r)
	}
	W := mat.NewSymDense(m.d, nil)
	W.ScaleSym(1-epsilon, S)
	for j := range m.d {
		W.SetSym(j, j, W.At(j, j)+epsilon*mat.Trace(S)/float64(m.d))
	}
	var chol mat.Cholesky
	chol.Factorize(W)
	var L mat.TriDense
	chol.LTo(&L)
	if err := L.InverseTri(&L); err != nil {
		panic(err)
	}
	B := mat.NewSymDense(m.d, nil)
	for _, mean := range m.means {
		var r, w mat.VecDense
		r.SubVec(mean, m.m0)
		w.MulVec(&L, &r)
		B.SymRankOne(B, 1/(C-1), &w)
	}
	var e mat.EigenSym
	e.Factorize(B, true)
	var V mat.Dense
	e.VectorsTo(&V)
	m.P.Mul(V.T(), &L)
	m.beta = e.Values(nil)
	var mean float64
	for i := range m.beta {
		m.beta[i] = math.Max(m.beta[i]-noise, 1e-6)
		mean += m.beta[i] / float64(m.d)
	}
	for i := range m.beta {
		m.beta[i] = m.beta[i]/2 + mean/2
	}
	return m
}

func (m *direct) add(x blas32.General, y []string) {
	for i, c := range y {
		if m.means[c] == nil {
			m.means[c] = mat.NewVecDense(m.d, nil)
		}
		n := float64(m.counts[c])
		m.means[c].ScaleVec(n/(n+1), m.means[c])
		m.means[c].AddScaledVec(m.means[c], 1/(n+1), unit(dense.Row32(x, i)))
		m.counts[c]++
	}
}

func (m *direct) logDensity(x []float32, c string) float64 {
	var dx, dm, px, pm mat.VecDense
	dx.SubVec(unit(x), m.m0)
	dm.SubVec(m.means[c], m.m0)
	px.MulVec(&m.P, &dx)
	pm.MulVec(&m.P, &dm)
	n := float64(m.counts[c])
	var sum float64
	for i, b := range m.beta {
		mu, v := b/(b+1/n)*pm.AtVec(i), b/(1+n*b)
		sum -= math.Pow(px.AtVec(i)-mu, 2)/(1+v)/2 + math.Log(1+v)/2
	}
	return sum
}

func learned(t *testing.T, epsilon float64, x blas32.General, y []string) *plda.PLDA {
	t.Helper()
	h := must.Get(plda.New(plda.Config{Epsilon: epsilon}))(t)
	learn(t, h, x, y)
	return h
}

func learn(t *testing.T, h *plda.PLDA, x blas32.General, y []string) {
	t.Helper()
	must.Do(t, h.Learn(context.Background(), x, y))
}

// TestEqualsDirectFormula covers fewer and more classes than dimensions, fewer
// examples than dimensions, new classes with none, one and several examples, and more
// examples of an old class.
func TestEqualsDirectFormula(t *testing.T) {
	for _, c := range []struct{ C, n, d int }{{5, 20, 8}, {12, 9, 8}, {3, 4, 30}, {9, 30, 8}, {2, 2, 5}, {40, 3, 20}} {
		x, y := data(c.C, c.n, c.d, 1)
		h, want := learned(t, 0.3, x, y), newDirect(x, y, 0.3)
		more, labels := data(2, 3, c.d, 2)
		for i := range labels {
			labels[i] = []string{"c001", "new five", "new five", "new five", "new one", "c001"}[i]
		}
		learn(t, h, more, labels)
		want.add(more, labels)
		must.Do(t, h.Expect("c000", "expected"))
		want.means["expected"] = want.m0
		queries, _ := data(6, 4, c.d, 3)
		got := blas64.General{Rows: queries.Rows, Cols: len(h.Classes()), Stride: len(h.Classes()),
			Data: make([]float64, queries.Rows*len(h.Classes()))}
		nov := make([]float64, queries.Rows)
		must.Do(t, h.Score(got, nov, queries))
		for i := range queries.Rows {
			scores := make([]float64, got.Cols)
			for k, class := range h.Classes() {
				scores[k] = want.logDensity(dense.Row32(queries, i), class)
			}
			// A class that is expected has the density of one that has not been seen.
			unseen := want.logDensity(dense.Row32(queries, i), "expected")
			if v := unseen - slices.Max(scores); math.Abs(nov[i]-v) > 1e-9*(1+math.Abs(unseen)) {
				t.Fatalf("%+v: novelty %.12g, direct %.12g", c, nov[i], v)
			}
			classifier.LogSoftmax(scores)
			for k, s := range scores {
				if math.Abs(got.Data[i*got.Stride+k]-s) > 1e-8*(1+math.Abs(s)) {
					t.Fatalf("%+v: log p(%s | %d) = %.12g, direct %.12g", c, h.Classes()[k], i,
						got.Data[i*got.Stride+k], s)
				}
			}
		}
	}
}

// TestLDAEqualsDirectFormula uses Σ' = ((N−1)S + tr(S)·I)/(N−1+d) and distances
// by its inverse; a new class only adds its mean.
func TestLDAEqualsDirectFormula(t *testing.T) {
	const d = 8
	x, y := data(5, 20, d, 1)
	h := must.Get(plda.New(plda.LDA()))(t)
	learn(t, h, x, y)
	S := mat.NewSymDense(d, nil)
	m := &direct{d: d, counts: map[string]int{}, means: map[string]*mat.VecDense{}}
	m.add(x, y)
	N, C := float64(len(y)), 5.0
	for i, c := range y {
		var r mat.VecDense
		r.SubVec(unit(dense.Row32(x, i)), m.means[c])
		S.SymRankOne(S, 1/(N-C), &r)
	}
	W := mat.NewSymDense(d, nil)
	W.ScaleSym((N-1)/(N-1+d), S)
	for j := range d {
		W.SetSym(j, j, W.At(j, j)+mat.Trace(S)/(N-1+d))
	}
	var chol mat.Cholesky
	chol.Factorize(W)
	one, _ := data(1, 1, d, 7)
	learn(t, h, one, []string{"new"})
	m.add(one, []string{"new"})
	queries, _ := data(6, 2, d, 3)
	got := blas64.General{Rows: queries.Rows, Cols: 6, Stride: 6, Data: make([]float64, 6*queries.Rows)}
	must.Do(t, h.Score(got, nil, queries))
	for i := range queries.Rows {
		scores := make([]float64, 6)
		for k, c := range h.Classes() {
			var r, w mat.VecDense
			r.SubVec(unit(dense.Row32(queries, i)), m.means[c])
			must.Do(t, chol.SolveVecTo(&w, &r))
			scores[k] = -mat.Dot(&r, &w) / 2
		}
		classifier.LogSoftmax(scores)
		for k, s := range scores {
			if v := got.Data[6*i+k]; math.Abs(v-s) > 1e-8*(1+math.Abs(s)) {
				t.Fatalf("log p(%s | %d) = %.12g, direct %.12g", h.Classes()[k], i, v, s)
			}
		}
	}
	if _, err := plda.New(plda.Config{Certain: true, Epsilon: 0.3}); err == nil {
		t.Error("LDA took an epsilon")
	}
}

// TestLittleData checks that after base sessions that say nothing about W,
// about B, or about either, new classes can still be learned and told apart.
func TestLittleData(t *testing.T) {
	for _, c := range []struct{ C, n int }{{1, 1}, {1, 20}, {20, 1}, {2, 1}} {
		x, y := data(c.C, c.n, 10, 1)
		h := learned(t, 0.3, x, y)
		more, _ := data(30, 1, 10, 2)
		labels := make([]string, more.Rows)
		for i := range labels {
			labels[i] = fmt.Sprint("new ", i)
		}
		learn(t, h, more, labels)
		predictions := must.Get(classifier.Predict(h, more, 1))(t)
		right := 0
		for i, p := range predictions {
			if p.Label == labels[i] {
				right++
			}
		}
		// The mean of a single example is drawn toward the origin, so that a longer
		// neighbour may win occasionally.
		if right < 24 {
			t.Errorf("base of %d×%d: %d of 30 single examples are recognised", c.C, c.n, right)
		}
	}
}

func TestMoreExamplesMakeSurer(t *testing.T) {
	x, y := data(5, 20, 8, 1)
	h := learned(t, 0.3, x, y)
	one, _ := data(1, 1, 8, 9)
	learn(t, h, one, []string{"new"})
	before := must.Get(classifier.Predict(h, one, 1))(t)
	for range 5 {
		learn(t, h, one, []string{"new"})
	}
	after := must.Get(classifier.Predict(h, one, 1))(t)
	if !(after[0].Probability > before[0].Probability) || after[0].Label != "new" {
		t.Errorf("%g with one example, %g with six", before[0].Probability, after[0].Probability)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for _, e := range []float64{1e-7, -1, 1.1, math.NaN(), math.Inf(1)} {
		if err := (plda.Config{Epsilon: e}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "epsilon:") {
			t.Errorf("%g: %v", e, err)
		}
	}
}

func BenchmarkPLDAFit(b *testing.B) {
	for _, c := range []struct{ C, n, d int }{{60, 50, 192}, {60, 50, 640}, {60, 50, 1280}} {
		x, y := data(c.C, c.n, c.d, 1)
		b.Run(fmt.Sprintf("C=%d_n=%d_d=%d", c.C, c.C*c.n, c.d), func(b *testing.B) {
			for b.Loop() {
				h := must.Get(plda.New(plda.DefaultConfig()))(b)
				must.Do(b, h.Learn(context.Background(), x, y))
			}
		})
	}
}

func BenchmarkPLDAScore(b *testing.B) {
	const n = 256
	for _, c := range []struct{ C, d int }{{100, 192}, {100, 1280}, {1000, 640}} {
		x, y := data(c.C, 2, c.d, 1)
		h := must.Get(plda.New(plda.DefaultConfig()))(b)
		must.Do(b, h.Learn(context.Background(), x, y))
		q, _ := data(n, 1, c.d, 2)
		dst := blas64.General{Rows: n, Cols: c.C, Stride: c.C, Data: make([]float64, n*c.C)}
		b.Run(fmt.Sprintf("C=%d_d=%d_n=%d", c.C, c.d, n), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, h.Score(dst, nil, q))
			}
		})
	}
}

// TestLeavesOut checks that a small base session chooses ε, the same from
// statistics and in any order, and that the others have a constant.
func TestLeavesOut(t *testing.T) {
	for _, c := range []struct {
		C, n, d int
		chosen  bool
		want    float64
	}{{20, 6, 30, true, 0}, {400, 2, 12, true, 0}, {20, 1, 30, false, 0.7}, {1, 2, 30, false, 0.7},
		{4, 21, 8, false, 0.3}} {
		x, y := data(c.C, c.n, c.d, 1)
		h := chooses(t, x, y)
		choice := h.Choice()
		if choice == nil || (choice.LeftOut > 0) != c.chosen || (len(choice.Scores) > 0) != c.chosen ||
			(choice.Fallback == "") != c.chosen {
			t.Fatalf("%+v: %+v", c, choice)
		}
		if !c.chosen {
			if choice.Value != c.want {
				t.Errorf("%+v: ε is %g", c, choice.Value)
			}
			continue
		}
		classes, stats := statistics(t, x, y)
		from := must.Get(plda.New(plda.DefaultConfig()))(t)
		must.Do(t, from.LearnMoments(context.Background(), classes, stats))
		order := rand.New(rand.NewPCG(1, 1)).Perm(len(y))
		labels := make([]string, len(y))
		for i, row := range order {
			labels[i] = y[row]
		}
		for name, other := range map[string]*plda.PLDA{"statistics": from,
			"another order": chooses(t, dense.Gather32(x, order), labels)} {
			o := other.Choice()
			if o.Value != choice.Value || o.LeftOut != choice.LeftOut ||
				math.Abs(o.Scores[0].NLL-choice.Scores[0].NLL) > 1e-5 {
				t.Errorf("%+v, %s: %+v, want %+v", c, name, *o, *choice)
			}
		}
	}
}

// statistics returns the moments of the classes, of rows of length 1.
func statistics(t *testing.T, x blas32.General, y []string) (classes []string, stats []*moments.Moments) {
	t.Helper()
	for _, g := range classifier.GroupByClass(y) {
		m := moments.New(x.Cols)
		must.Do(t, m.Add(classifier.UnitRows(x, g.Rows)))
		classes, stats = append(classes, g.Class), append(stats, m)
	}
	return classes, stats
}

// chooses returns a head of the default configuration that learned the examples.
func chooses(t *testing.T, x blas32.General, y []string) *plda.PLDA {
	t.Helper()
	h := must.Get(plda.New(plda.DefaultConfig()))(t)
	learn(t, h, x, y)
	return h
}
