package aligned

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

const dim = 6

// clouds draws n examples of each of the classes first … last−1.
func clouds(first, last, n int, seed uint64) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := dense.New32(n*(last-first), dim), make([]string, n*(last-first))
	for i := range y {
		c := first + i%(last-first)
		y[i] = fmt.Sprintf("class %d", c)
		for j := range dim {
			x.Data[i*dim+j] = float32(0.5*rng.NormFloat64() + 2*math.Cos(float64(1+c*(j+2))))
		}
	}
	return x, y
}

// learned returns a head with a base session of three classes of 20 and two later
// classes of 4.
func learned(t *testing.T, cfg Config) *Head {
	t.Helper()
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range [][3]int{{0, 3, 20}, {3, 5, 4}} {
		x, y := clouds(s[0], s[1], s[2], 3)
		if err := h.Learn(context.Background(), x, y); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// expectations returns the loss of the later classes of a head and that of all
// classes, and the densities.
func expectations(t *testing.T) (later, all *expectation, fixed blas64.General, fitted []*gauss.Density, sp *gauss.Space, totals []moments.Total) {
	t.Helper()
	m := learned(t, DefaultConfig()).Model()
	sp = m.Shared.space
	for i, c := range m.Classes.Values() {
		totals = append(totals, c.Total)
		if i < 3 {
			fixed.Data = append(fixed.Data, c.logit...)
		}
	}
	fixed.Rows, fixed.Cols, fixed.Stride = 3, dim+1, dim+1
	var err error
	if later, err = newExpectation(sp, totals); err != nil {
		t.Fatal(err)
	}
	later.target, later.rows = []int{-1, -1, -1, 0, 1}, 2
	if err := later.fix(context.Background(), fixed); err != nil {
		t.Fatal(err)
	}
	if all, err = newExpectation(sp, totals); err != nil {
		t.Fatal(err)
	}
	all.target, all.rows = dense.Range(0, 5), 5
	if fitted, err = densities(sp, totals); err != nil {
		t.Fatal(err)
	}
	return later, all, fixed, fitted, sp, totals
}

func weights(n int) []float64 {
	rng := rand.New(rand.NewPCG(5, 5))
	w := make([]float64, n)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	return w
}

// TestLoss compares the loss with a sum over every point of every class.
func TestLoss(t *testing.T) {
	later, all, fixed, fitted, sp, totals := expectations(t)
	w := weights(2 * (dim + 1))
	both := append(slices.Clone(fixed.Data), w...)
	var want, base float64
	standard := points(dim)
	for c, total := range totals {
		deviations, err := sp.Deviations(standard, total.N)
		if err != nil {
			t.Fatal(err)
		}
		for i := range deviations.Rows {
			scores := make([]float64, len(totals))
			for k := range scores {
				scores[k] = both[k*(dim+1)+dim]
				for j, v := range dense.Row(deviations, i) {
					scores[k] += (v + fitted[c].Mean()[j]) * both[k*(dim+1)+j]
				}
			}
			scale := 1 / float64(len(totals)*deviations.Rows)
			want += scale * (classifier.LogSumExp(scores) - scores[c])
			if c < 3 {
				base += scale * (classifier.LogSumExp(scores[:3]) - scores[c])
			}
		}
	}
	got, _, err := all.loss(context.Background(), both)
	if err != nil || math.Abs(got-want) > 1e-12*want {
		t.Errorf("all rows: %g, want %g; %v", got, want, err)
	}
	// With fixed rows a base class is one of the group of base classes.
	if got, _, err = later.loss(context.Background(), w); err != nil || math.Abs(got-(want-base)) > 1e-12*want {
		t.Errorf("later rows: %g, want %g; %v", got, want-base, err)
	}
}

func TestGradient(t *testing.T) {
	later, all, _, _, _, _ := expectations(t)
	for name, e := range map[string]*expectation{"later": later, "all": all} {
		w := weights(e.rows * (dim + 1))
		_, gradient, err := e.loss(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		for i := range w {
			const h = 1e-5
			at := func(by float64) float64 {
				moved := slices.Clone(w)
				moved[i] += by
				loss, _, err := e.loss(context.Background(), moved)
				if err != nil {
					t.Fatal(err)
				}
				return loss
			}
			if numeric := (at(h) - at(-h)) / (2 * h); math.Abs(numeric-gradient[i]) > 1e-8 {
				t.Errorf("%s: gradient %d is %g, by differences %g", name, i, gradient[i], numeric)
			}
		}
	}
}

// TestPoints: their mean is 0 and their covariance I.
func TestPoints(t *testing.T) {
	for _, d := range []int{1, 2, 7, 300} {
		p := points(d)
		if p.Rows < leastPoints {
			t.Errorf("d %d: %d points", d, p.Rows)
		}
		turned, covariance := dense.Transposed(p), dense.New(d, d)
		if err := linalg.Default().MulTrans64(covariance, turned, turned); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			var mean float64
			for j, v := range dense.Row(covariance, i) {
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(v/float64(p.Rows)-want) > 1e-10 {
					t.Fatalf("d %d: covariance %d, %d is %g", d, i, j, v/float64(p.Rows))
				}
			}
			for _, v := range dense.Row(turned, i) {
				mean += v
			}
			if math.Abs(mean) > 1e-9 {
				t.Errorf("d %d: mean %g", d, mean)
			}
		}
	}
}

// TestBaseShare: the share of base classes multiplies the odds between base and
// later classes by s/(1−s)·C₁/C₀ and leaves the rest alone.
func TestBaseShare(t *testing.T) {
	x, _ := clouds(0, 5, 4, 9)
	even := classifiertest.LogProb(t, learned(t, DefaultConfig()), x)
	shifted := classifiertest.LogProb(t, learned(t, Config{Epsilon: 0.5, BaseShare: 0.9}), x)
	for i := range x.Rows {
		a, b := dense.Row(even, i), dense.Row(shifted, i)
		for c, want := range []float64{0, 0, 0, -math.Log(9 * 2.0 / 3), -math.Log(9 * 2.0 / 3)} {
			if got := b[c] - b[0] - (a[c] - a[0]); math.Abs(got-want) > 1e-9 {
				t.Errorf("row %d, class %d: log-odds changed by %g, want %g", i, c, got, want)
			}
		}
	}
}

// TestRelearn: rows of base classes stay, and a later class that is forgotten and
// learned again has the same row to the last bit.
func TestRelearn(t *testing.T) {
	rows := func(h *Head) map[string][]float64 {
		out := make(map[string][]float64)
		for i, c := range h.Model().Classes.Values() {
			out[h.Classes()[i]] = c.logit
		}
		return out
	}
	h := learned(t, DefaultConfig())
	before := rows(h)
	if err := h.Forget("class 3"); err != nil {
		t.Fatal(err)
	}
	without := rows(h)
	if !slices.Equal(without["class 1"], before["class 1"]) {
		t.Error("the row of a base class changed")
	}
	if slices.Equal(without["class 4"], before["class 4"]) {
		t.Error("the row of a later class did not change")
	}
	x, y := clouds(3, 5, 4, 3)
	var third []int
	for i := range y {
		if y[i] == "class 3" {
			third = append(third, i)
		}
	}
	if err := h.Learn(context.Background(), dense.Gather32(x, third), slices.Repeat([]string{"class 3"}, len(third))); err != nil {
		t.Fatal(err)
	}
	for name, row := range rows(h) {
		if !slices.Equal(row, before[name]) {
			t.Errorf("%s has another row", name)
		}
	}
}
