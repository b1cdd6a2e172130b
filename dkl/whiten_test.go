package dkl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// stretched returns classes around different points that vary by widths, one per
// direction; the inputs of a class are equal if width is nil.
func stretched(classes, n int, widths []float64) Examples {
	rng := rand.New(rand.NewPCG(5, 6))
	d := len(widths)
	e := Examples{X: dense.New32(classes*n, d)}
	for c := range classes {
		place := make([]float64, d)
		for j := range place {
			place[j] = rng.NormFloat64()
		}
		for i := range n {
			for j, w := range widths {
				e.X.Data[(c*n+i)*d+j] = float32(place[j] + w*rng.NormFloat64())
			}
			e.Y = append(e.Y, fmt.Sprint("c", c))
		}
	}
	return e
}

func whitening(t *testing.T, e Examples) (*Trainer, *Projection) {
	t.Helper()
	cfg := DefaultTraining()
	cfg.Preset, cfg.Seed = PresetWhiten, 3
	tr := newTestTrainer(t, cfg, e)
	if !tr.Done() {
		t.Fatal("there is something left to train")
	}
	return tr, tr.Trained().Projection
}

// The map W and the shrunk covariance Σ of its examples go together by
// WΣWᵀ = (tr Σ/d)·I, W is symmetric, and the mean of the examples goes to 0.
func TestWhitening(t *testing.T) {
	e := stretched(4, 30, []float64{2, 1, 0.5, 0.1, 0.1})
	tr, h := whitening(t, e)
	x := tr.data.gather(plain(tr.data.train))
	mean := dense.MeanRow(x)
	z := dense.New(1, h.Dim())
	must.Do(t, h.Forward(z, blas64.General{Rows: 1, Cols: len(mean), Stride: len(mean), Data: mean}))
	for _, v := range z.Data {
		if math.Abs(v) > 1e-12 {
			t.Errorf("the mean goes to %v", z.Data)
		}
	}
	s := withinClasses(x, tr.data.sizes())
	scale := dense.Trace(s) / 5
	w := slices.Clone(h.w.out.w.Data)
	for i := range 5 {
		w[i*5+i]++
		for j := range 5 {
			s.Data[i*5+j] *= 0.7
		}
		s.Data[i*5+i] += 0.3 * scale
	}
	m := blas64.General{Rows: 5, Cols: 5, Stride: 5, Data: w}
	half, all := dense.New(5, 5), dense.New(5, 5)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, m, s, 0, half)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1/scale, half, m, 0, all)
	for i := range 5 {
		for j := range 5 {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(all.Data[i*5+j]-want) > 1e-9 || math.Abs(w[i*5+j]-w[j*5+i]) > 1e-12 {
				t.Fatalf("WΣWᵀ = %v, W = %v", all.Data, w)
			}
		}
	}
}

// Classes that do not vary leave the embeddings as they are.
func TestWhiteningOfPoints(t *testing.T) {
	_, h := whitening(t, stretched(3, 4, []float64{0, 0, 0}))
	if slices.ContainsFunc(h.Theta(), func(v float64) bool { return v != 0 }) {
		t.Errorf("θ = %v", h.Theta())
	}
}

// Training goes on from a whitening, and its anchor pulls back to that.
func TestTrainingStartsFromWhitening(t *testing.T) {
	cfg := small()
	cfg.Preset, cfg.Dim, cfg.Whiten = PresetFrozen, 0, true
	e := stretched(4, 20, []float64{1, 0.5, 0.2, 0.1})
	tr := newTestTrainer(t, cfg, e)
	start := slices.Clone(tr.initial.theta)
	if !slices.ContainsFunc(start, func(v float64) bool { return v != 0 }) {
		t.Fatal("it starts from the identity")
	}
	cfg.Anchor = 20 // times the rate, below 1
	held := newTestTrainer(t, cfg, e)
	finish(t, tr)
	finish(t, held)
	if free, pulled := distance(tr.Trained().Projection.theta, start),
		distance(held.Trained().Projection.theta, start); !(pulled < free/2) {
		t.Errorf("distance from the start %g, with the anchor %g", free, pulled)
	}
}

func distance(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

func TestWhitenNeedsALinearResidualHead(t *testing.T) {
	for _, change := range []func(*Training){
		func(c *Training) { c.Preset = PresetWhiten; c.Hidden = 8 },
		func(c *Training) { c.Preset, c.Whiten = PresetCUB, true },
	} {
		c := DefaultTraining()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), "whiten:") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
