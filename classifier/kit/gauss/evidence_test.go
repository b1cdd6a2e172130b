package gauss

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestEvidenceIsTheMarginalLikelihood compares with dense Gaussians of all rows
// at once: covariance I between noise rows, I + 11ᵀ⊗B for one class.
func TestEvidenceIsTheMarginalLikelihood(t *testing.T) {
	_, sp := fitted(t, 4, 6, 5)
	d, r := sp.Dim(), len(sp.Beta)
	B := mat.NewDense(d, d, nil)
	for i := range d {
		B.Set(i, i, sp.Rest)
		for j := range d {
			for k := range r {
				v := sp.direction(k)
				B.Set(i, j, B.At(i, j)+(sp.Beta[k]-sp.Rest)*v[i]*v[j])
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= 4; n++ {
		white := dense.New(n, d)
		for i := range white.Data {
			white.Data[i] = 2 * rng.NormFloat64()
		}
		one := mat.NewSymDense(n*d, nil)
		for p := range n * d {
			for q := p; q < n*d; q++ {
				one.SetSym(p, q, B.At(p%d, q%d))
			}
			one.SetSym(p, p, one.At(p, p)+1)
		}
		var chol mat.Cholesky
		if !chol.Factorize(one) {
			t.Fatal("not positive definite")
		}
		x, solved := mat.NewVecDense(n*d, white.Data), mat.NewVecDense(n*d, nil)
		must.Do(t, chol.SolveVecTo(solved, x))
		want := (mat.Dot(x, x) - mat.Dot(x, solved) - chol.LogDet()) / 2

		coordinates := must.Get(sp.Coordinates(white))(t)
		weights, c := sp.Evidence(float64(n))
		got := -c
		for j, w := range weights {
			sum := 0.0
			for i := range n {
				sum += dense.Row(coordinates, i)[j]
			}
			got += w * sum * sum
		}
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%d rows: %v, want %v", n, got, want)
		}
	}
}

// TestIsotropic: the variances within and between classes add up to that of the
// rows; equal rows and none give finite numbers.
func TestIsotropic(t *testing.T) {
	x := dense.New(200, 3)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range x.Data {
		x.Data[i] = 1 + 0.3*rng.NormFloat64()
	}
	sp := Isotropic(x)
	white := must.Get(sp.Whitened(dense.Clone(x)))(t)
	if total := dense.SumSquares(white.Data) / float64(len(white.Data)); math.Abs(total-(1+sp.Rest)) > 1e-9 {
		t.Errorf("variance %v, want 1 + %v", total, sp.Rest)
	}
	for _, rows := range []int{0, 2} {
		sp := Isotropic(dense.New(rows, 3))
		if dense.NotFinite(sp.Whiten.Dense()) >= 0 || math.IsNaN(sp.Origin[0]) {
			t.Errorf("%d equal rows: %+v", rows, sp)
		}
	}
}
