package ncm_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func learned(t *testing.T, cfg ncm.Config, x blas32.General, y []string) *ncm.NCM {
	t.Helper()
	h := must.Get(ncm.New(cfg))(t)
	must.Do(t, h.Learn(context.Background(), x, y))
	return h
}

var (
	square = blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{3, 0, 1, 0, 0, 2, 0, 4}}
	sides  = []string{"x", "x", "y", "y"}
)

func TestExactValues(t *testing.T) {
	q := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{3, 4}}
	for _, c := range []struct {
		cfg            ncm.Config
		scoreX, scoreY float64
		novelty, tol   float64
	}{
		// means (1,0), (0,1) on the circle; q = (0.6, 0.8). The examples of a class are
		// alike: μ is their mean but for a thousandth.
		{ncm.Config{Metric: ncm.Cosine, Temperature: 0.5}, 0.6 / 0.5, 0.8 / 0.5, novelty(1e3, 0.4, 0.1, 0.5), 1e-12},
		// means (2,0), (0,3): squared distances of q = (3, 4) 17 and 10, 10.25 from the
		// middle; w = 2, t² = 6.5 − w/2
		{ncm.Config{Metric: ncm.Euclidean, Temperature: 2}, -17.0 / 4, -10.0 / 4, novelty(2.75, 10, 10.25, 3.25),
			1e-12},
	} {
		h := learned(t, c.cfg, square, sides)
		dst, nov := blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: make([]float64, 2)}, make([]float64, 1)
		must.Do(t, h.Score(dst, nov, q))
		want := []float64{c.scoreX, c.scoreY}
		classifier.LogSoftmax(want)
		for j := range want {
			if math.Abs(dst.Data[j]-want[j]) > c.tol {
				t.Errorf("%s: log p(%d) = %.17g, want %.17g", c.cfg.Metric, j, dst.Data[j], want[j])
			}
		}
		if math.Abs(nov[0]-c.novelty) > c.tol {
			t.Errorf("%s: novelty %.17g, want %.17g", c.cfg.Metric, nov[0], c.novelty)
		}
	}
}

// novelty of a row at the squared distances own from the mean of the nearest class of two
// examples and all from that of all, given b and the squared distance between these means.
func novelty(b, own, all, square float64) float64 {
	g, r := 2*b/(1+2*b), (1+b/(1+2*b))/(1+b)
	along := (all + square - own) / 2
	return ((all-2*g*along+g*g*square)/r - all) / 2 / math.Sqrt(1-r)
}

// overlapping returns classes that are often confused with each other.
func overlapping(seed uint64) (blas32.General, []string) {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := blas32.General{Cols: 5, Stride: 5}
	var y []string
	for c, n := range []int{12, 7, 1, 9} {
		for range n {
			for j := range 5 {
				centre := 0.0
				if j == c {
					centre = 2.5
				}
				x.Data = append(x.Data, float32(centre+rng.NormFloat64()))
			}
			y = append(y, string(rune('a'+c)))
		}
	}
	x.Rows = len(y)
	return x, y
}

// TestTemperatureMinimisesLeaveOneOut checks that the loss at the fitted τ,
// computed by actually leaving each example out, is no higher than anywhere on
// a grid.
func TestTemperatureMinimisesLeaveOneOut(t *testing.T) {
	x, y := overlapping(1)
	for _, metric := range []string{ncm.Cosine, ncm.Euclidean} {
		tau := learned(t, ncm.Config{Metric: metric}, x, y).Temperature()
		best := leaveOneOut(t, metric, tau, x, y)
		for f := -2.0; f <= 2; f += 0.16 {
			if loss := leaveOneOut(t, metric, tau*math.Exp(f), x, y); loss < best-1e-7 {
				t.Errorf("%s: loss %.9g at τ = %.4g, %.9g at %.4g", metric, best, tau, loss, tau*math.Exp(f))
			}
		}
		t.Logf("%s: τ = %.4g, loss %.4g", metric, tau, best)
	}
}

func leaveOneOut(t *testing.T, metric string, tau float64, x blas32.General, y []string) float64 {
	t.Helper()
	var sum float64
	var n int
	h := learned(t, ncm.Config{Metric: metric, Temperature: tau}, x, y)
	for i, class := range y {
		if class == "c" { // its only example
			continue
		}
		row, label := dense.Rows32(x, i, i+1), []string{class}
		must.Do(t, h.ForgetSamples(row, label))
		dst := blas64.General{Rows: 1, Cols: 4, Stride: 4, Data: make([]float64, 4)}
		must.Do(t, h.Score(dst, nil, row))
		sum -= dst.Data[class[0]-'a']
		n++
		must.Do(t, h.Learn(context.Background(), row, label))
	}
	return sum / float64(n)
}

func TestTemperatureDefaultsAndStays(t *testing.T) {
	one := dense.Gather32(square, []int{0, 2})
	h := learned(t, ncm.DefaultConfig(), one, []string{"x", "y"})
	if h.Temperature() != ncm.DefaultTemperature {
		t.Errorf("one example a class: τ = %g", h.Temperature())
	}
	x, y := overlapping(1)
	h = learned(t, ncm.DefaultConfig(), x, y)
	tau := h.Temperature()
	if err := h.Learn(context.Background(), x, y); err != nil || h.Temperature() != tau {
		t.Errorf("a later session moved τ from %g to %g, %v", tau, h.Temperature(), err)
	}
	apart := learned(t, ncm.DefaultConfig(), square, sides)
	if tau := apart.Temperature(); !(tau > 0.0005 && tau < 3) {
		t.Errorf("classes that are never confused: τ = %g", tau)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for field, cfg := range map[string]ncm.Config{"metric": {Metric: "l1"},
		"temperature": {Metric: ncm.Cosine, Temperature: math.NaN()}} {
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkNCMScore(b *testing.B) {
	const n, d = 256, 640
	for _, K := range []int{100, 1000} {
		rng := rand.New(rand.NewPCG(1, 1))
		x := blas32.General{Rows: 2 * K, Cols: d, Stride: d, Data: make([]float32, 2*K*d)}
		for i := range x.Data {
			x.Data[i] = rng.Float32()
		}
		y := make([]string, 2*K)
		for i := range y {
			y[i] = fmt.Sprint(i % K)
		}
		h := must.Get(ncm.New(ncm.DefaultConfig()))(b)
		must.Do(b, h.Learn(context.Background(), x, y))
		q := dense.Rows32(x, 0, min(n, 2*K))
		dst := blas64.General{Rows: q.Rows, Cols: K, Stride: K, Data: make([]float64, q.Rows*K)}
		b.Run(fmt.Sprintf("K=%d_d=%d_n=%d", K, d, q.Rows), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, h.Score(dst, nil, q))
			}
		})
	}
}
