package gauss

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// covariance returns AAᵀ/d³, symmetric and definite.
func covariance(d int, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	a, out := dense.New(d, d), dense.New(d, d)
	for i := range a.Data {
		a.Data[i] = rng.NormFloat64()
	}
	for i := range d {
		for j := range d {
			out.Data[i*d+j] = dense.Dot(dense.Row(a, i), dense.Row(a, j)) / float64(d*d*d)
		}
	}
	return out
}

func TestPriorIsPooledByDegreesOfFreedom(t *testing.T) {
	const d, weight = 6, 7.0
	b, _ := fitted(t, 3, 4, d)
	p := covariance(d, 5)
	with := must.Get(b.With(&Prior{Within: p}, weight))(t)
	D := float64(b.Degrees())
	for i, v := range with.Within().Data {
		want := (D*b.Within().Data[i] + weight*p.Data[i]) / (D + weight)
		if math.Abs(v-want) > 1e-15 {
			t.Fatalf("element %d is %g, want %g", i, v, want)
		}
	}
	if with.PriorWeight() != weight || b.PriorWeight() != 0 {
		t.Errorf("weights %g and %g", with.PriorWeight(), b.PriorWeight())
	}
	if _, err := b.With(&Prior{Within: covariance(d+1, 5)}, weight); !errors.Is(err, ErrPrior) {
		t.Errorf("a prior of other dimensions: %v", err)
	}
}

// With one example of each class, W is the prior's and β is ρ/(1−ρ) everywhere.
func TestOneExampleOfEachClassTakesThePrior(t *testing.T) {
	const d, epsilon = 6, 0.3
	b, _ := fitted(t, 4, 1, d)
	p := covariance(d, 8)
	b = must.Get(b.With(&Prior{Within: p}, 300))(t)
	sp := must.Get(b.Space(epsilon))(t)
	W, round := dense.Clone(p), dense.Trace(p)/d
	for i := range W.Data {
		W.Data[i] *= 1 - epsilon
	}
	for i := range d {
		W.Data[i*d+i] += epsilon * (2*p.Data[i*d+i] + round) / 3
	}
	for i := range d { // L⁻¹·W·L⁻ᵀ = I
		for j := range d {
			var sum float64
			for k := range d {
				for l := range d {
					sum += sp.Whiten.Full.Data[i*d+k] * W.Data[k*d+l] * sp.Whiten.Full.Data[j*d+l]
				}
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(sum-want) > 1e-9 {
				t.Fatalf("whitened W at %d, %d is %g", i, j, sum)
			}
		}
	}
	for _, beta := range append(sp.Beta, sp.Rest) {
		if want := correlation / (1 - correlation); math.Abs(beta-want) > 1e-12 {
			t.Errorf("β = %g, want %g", beta, want)
		}
	}
}
