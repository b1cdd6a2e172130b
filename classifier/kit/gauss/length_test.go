package gauss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// length returns m̄ᵀD⁻¹μ, the square of the length of a class mean, and its expectation
// Σ β/(1+v), summed up without the space's own division.
func length(sp *Space, mean, mu []float64, n float64) (measured, expected float64) {
	part := func(beta, m, u float64) float64 { return m * u / (1 + sp.variance(beta, n)) }
	m, u := slices.Clone(mean), slices.Clone(mu)
	for i, b := range sp.Beta {
		v := sp.direction(i)
		a, c := dense.Dot(m, v), dense.Dot(u, v)
		measured += part(b, a, c)
		expected += b / (1 + sp.variance(b, n))
		for j := range v {
			m[j] -= a * v[j]
			u[j] -= c * v[j]
		}
	}
	measured += part(sp.Rest, 1, dense.Dot(m, u))
	expected += float64(sp.Dim()-len(sp.Beta)) * part(sp.Rest, 1, 1) * sp.Rest
	return measured, expected
}

// TestLength: η moves the length of a mean towards the expected one, by the ratio's power
// η/2, keeps its direction, and changes neither a class without examples, nor one whose
// mean is the origin, nor known means.
func TestLength(t *testing.T) {
	b, sp := fitted(t, 6, 4, 9)
	totals := append([]moments.Total{}, b.totals...)
	totals = append(totals, moments.Total{Sum: make([]float64, 9)}, moments.Total{N: 2, Sum: scaled(sp.Origin, 2)})
	white := must.Get(sp.Means(totals))(t)
	densities := func(eta float64, certain bool) []*Density {
		changed := *sp
		changed.Length, changed.Certain = eta, certain
		return must.Get(changed.Pooled(totals))(t)
	}
	plain, known := densities(0, false), densities(0, true)
	for _, eta := range []float64{0.25, 0.5, 1} {
		for c, p := range densities(eta, false) {
			want := 1.0
			if c < len(b.totals) {
				measured, expected := length(sp, dense.Row(white, c), plain[c].mean, float64(totals[c].N))
				want = math.Pow(expected/measured, eta/2)
			}
			for j, v := range plain[c].mean {
				if math.Abs(p.mean[j]-want*v) > 1e-9*(1+math.Abs(v)) ||
					math.Abs(p.weight[j]-want*plain[c].weight[j]) > 1e-9 {
					t.Fatalf("η = %g, class %d: μ[%d] is %g, want %g·%g", eta, c, j, p.mean[j], want, v)
				}
			}
			if math.Abs(p.square-want*want*plain[c].square) > 1e-9*(1+p.square) || p.logDet != plain[c].logDet {
				t.Errorf("η = %g, class %d: μᵀD⁻¹μ is %g", eta, c, p.square)
			}
		}
		for c, p := range densities(eta, true) {
			if dense.SquaredDistance(p.mean, known[c].mean) != 0 {
				t.Errorf("η = %g changes the known mean of class %d", eta, c)
			}
		}
	}
}

// TestLengthIsBounded: a mean next to the origin becomes at most twice as long.
func TestLengthIsBounded(t *testing.T) {
	_, sp := fitted(t, 6, 4, 9)
	near, far := make([]float64, 9), make([]float64, 9)
	near[0], far[0] = 1e-9, 1e9
	classes := []Class{{N: 3, Mean: near, Noise: 1}, {N: 3, Mean: far, Noise: 1}}
	plain := must.Get(sp.Densities(classes))(t)
	changed := *sp
	changed.Length = 1
	got := must.Get(changed.Densities(classes))(t)
	for i, want := range []float64{2, 0.5} {
		if ratio := got[i].mean[0] / plain[i].mean[0]; math.Abs(ratio-want) > 1e-12 {
			t.Errorf("mean %d is %g times as long, want %g", i, ratio, want)
		}
	}
}

// TestLengthOfUnevenImages: images differ in how strongly they show their class, as photos
// do. With two of each, more of the next ones are named correctly if the lengths of the
// class means are made more alike; where images do not differ in this way little is lost.
func TestLengthOfUnevenImages(t *testing.T) {
	for _, c := range []struct{ spread, gain float64 }{{0, -0.01}, {0.5, 0.01}} {
		before, after := twoShots(t, c.spread, 0), twoShots(t, c.spread, DefaultLength)
		t.Logf("spread %g: %.3f of the images are right, with lengths more alike %.3f", c.spread, before, after)
		if after < before+c.gain {
			t.Errorf("spread %g: accuracy %.3f becomes %.3f", c.spread, before, after)
		}
	}
}

// twoShots returns the accuracy on drawn images of 30 classes learned from two each, the
// mean of five draws. The strength of an image has a log-normal distribution of this
// spread.
func twoShots(t *testing.T, spread, eta float64) (accuracy float64) {
	t.Helper()
	const C, shots, tests, d, draws = 30, 2, 20, 40, 5
	rng := rand.New(rand.NewPCG(7, 7))
	for range draws {
		mean := dense.New(C, d)
		for i := range mean.Data {
			mean.Data[i] = 0.9 * rng.NormFloat64()
		}
		images := func(each int) (blas32.General, []string) {
			x, y := dense.New32(C*each, d+1), make([]string, C*each)
			for i := range y {
				y[i] = string(rune('A' + i%C))
				strength := math.Exp(spread * rng.NormFloat64())
				for j, m := range dense.Row(mean, i%C) {
					x.Data[i*(d+1)+j] = float32(strength*m + rng.NormFloat64())
				}
				x.Data[i*(d+1)+d] = 12 // so that rows of length 1 still differ in strength
			}
			return x, y
		}
		x, y := images(shots)
		b := must.Get(basisOf(x, y))(t)
		sp := must.Get(b.Space(0.7))(t)
		sp.Length = eta
		densities := must.Get(sp.Pooled(b.totals))(t)
		queries, _ := images(tests)
		white := must.Get(sp.WhitenedRows(queries))(t)
		scores := must.Get(sp.Stack(densities).LogDensities(white))(t)
		accuracy += trialOf(0, white.Rows,
			func(i int) ([]float64, int) { return dense.Row(scores, i), i % C }).Accuracy / draws
	}
	return accuracy
}

func scaled(v []float64, f float64) []float64 {
	out := slices.Clone(v)
	for i := range out {
		out[i] *= f
	}
	return out
}
