package gauss

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// fitted returns the space of a base session of C classes.
func fitted(t *testing.T, C, n, d int) (*Basis, *Space) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	x := dense.New32(C*n, d)
	y := make([]string, C*n)
	for i := range y {
		y[i] = string(rune('a' + i%C))
		for j := range d {
			x.Data[i*d+j] = float32(rng.NormFloat64() + float64((i%C+j)%3))
		}
	}
	b := must.Get(basisOf(x, y))(t)
	sp := must.Get(b.Space(0.5))(t)
	return b, sp
}

func basisOf(x blas32.General, y []string) (*Basis, error) {
	s, err := moments.NewSession(x, y, 0, true)
	if err != nil {
		return nil, err
	}
	return Fit(context.Background(), linalg.Backend{}, s, s.Totals())
}

func TestBasisCounts(t *testing.T) {
	b, sp := fitted(t, 4, 6, 5)
	if b.Examples() != 24 || b.Degrees() != 20 || b.Dim() != 5 || sp.Dim() != 5 {
		t.Errorf("%d examples, %d degrees, dimensions %d and %d", b.Examples(), b.Degrees(), b.Dim(), sp.Dim())
	}
}

// TestDivideAndMultiply checks that D⁻¹ and D are inverse to each other, and
// that uᵀD⁻¹u is the product of both vectors.
func TestDivideAndMultiply(t *testing.T) {
	_, sp := fitted(t, 4, 6, 9)
	rng := rand.New(rand.NewPCG(3, 4))
	p := &Density{n: 5, noise: 0.3}
	u, v, back := make([]float64, 9), make([]float64, 9), make([]float64, 9)
	for j := range u {
		u[j] = rng.NormFloat64()
	}
	square := sp.divide(v, u, p)
	sp.multiply(back, v, p)
	for j := range u {
		if math.Abs(back[j]-u[j]) > 1e-12 {
			t.Errorf("D·D⁻¹·u is %g at %d, want %g", back[j], j, u[j])
		}
	}
	if want := blas64.Dot(dense.Vector(u), dense.Vector(v)); math.Abs(square-want) > 1e-12*want {
		t.Errorf("uᵀD⁻¹u is %g, want %g", square, want)
	}
}

// TestCancellation checks that the guard keeps the distance accurate to 1e-4
// when a class varies 10⁷ times more along its directions than in the others,
// so that the difference of terms has no correct digit in float32. The dense
// distance is Σ a²/(λ+…), for vectors that U and V leave unchanged.
func TestCancellation(t *testing.T) {
	const d, k, noise, wide = 16, 3, 1e-4, 1e3
	sp := &Space{Origin: make([]float64, d), Directions: dense.New(0, d), Rest: 1,
		Certain: true}
	c := Class{N: 9, Mean: make([]float64, d), Noise: noise, Values: []float64{wide, wide, wide},
		Vectors: make([]float32, k*d)}
	for i := range k { // orthonormal: Hadamard rows over ½√d… of 16 entries ±¼
		for j := range d {
			c.Vectors[i*d+j] = []float32{0.25, -0.25}[j>>i&1]
		}
	}
	p := must.Get(sp.Densities([]Class{c}))(t)
	rng := rand.New(rand.NewPCG(5, 6))
	white := dense.New(40, d)
	want := make([]float64, white.Rows)
	for i := range white.Rows {
		z := white.Data[i*d : (i+1)*d]
		for j := range z {
			z[j] = 0.01 * rng.NormFloat64()
		}
		for r := range k {
			a := 30 * rng.NormFloat64()
			for j := range z {
				z[j] += a * float64(c.Vectors[r*d+j])
			}
		}
		rest := blas64.Dot(dense.Vector(z), dense.Vector(z))
		for r := range k {
			a := dot32(c.Vectors[r*d:(r+1)*d], z)
			want[i] += a * a / (wide + noise)
			rest -= a * a
		}
		want[i] += rest / noise
	}
	got := must.Get(sp.Stack(p).LogDensities(white))(t)
	logDet := (d-k)*math.Log(noise) + k*math.Log(wide+noise)
	for i, w := range want {
		if r := -2*dense.Row(got, i)[0] - logDet; math.Abs(r-w) > 1e-4*w+1e-6 {
			t.Errorf("distance %d is %.8g, want %.8g", i, r, w)
		}
	}
}

// TestStudentTendsToGaussian as the degrees of freedom grow.
func TestStudentTendsToGaussian(t *testing.T) {
	_, sp := fitted(t, 4, 6, 9)
	mean := make([]float64, 9)
	mean[2] = 1
	densities := must.Get(sp.Densities([]Class{{N: 3, Mean: mean, Noise: 1}, {N: 3, Mean: mean, Noise: 1, Degrees: 1e8},
		{N: 3, Mean: mean, Noise: 1, Degrees: 4}}))(t)
	far := dense.New(1, 9)
	far.Data[0] = 20
	got := must.Get(sp.Stack(densities).LogDensities(far))(t)
	if math.Abs(got.Data[0]-got.Data[1]) > 1e-3 || !(got.Data[2] > got.Data[0]+10) {
		t.Errorf("Gaussian, t with many and with few degrees of freedom: %.4f", got.Data)
	}
}

// TestLoadSpaceRefuses what cannot be a space.
func TestLoadSpaceRefuses(t *testing.T) {
	_, sp := fitted(t, 4, 6, 5)
	s := classifier.State{Tensors: sp.Tensors()}
	if _, err := loadSpace(s, 5, len(sp.Beta), sp.Rest); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		d, r int
		rest float64
	}{{0, 0, 1}, {5, 6, 1}, {5, len(sp.Beta), 0}, {5, len(sp.Beta), math.NaN()}, {4, len(sp.Beta), 1}} {
		if _, err := loadSpace(s, c.d, c.r, c.rest); err == nil {
			t.Errorf("%+v was loaded", c)
		}
	}
	s.Tensors["beta"].F64[0] = -1
	if _, err := loadSpace(s, 5, len(sp.Beta), sp.Rest); err == nil {
		t.Error("a negative variance was loaded")
	}
}

// TestGuessedSpread checks W and β of base sessions that say little about the
// spread within classes, against the formula of the package comment: nothing if
// no class has two different images, part of it if a quarter of them have.
func TestGuessedSpread(t *testing.T) {
	const C, d, epsilon = 8, 5, 0.4
	for name, c := range map[string]struct {
		second  int     // classes with a second image
		same    bool    // the second is the first again
		given   float64 // the share of the session that this is a part of, −1 for none
		guessed float64 // share
	}{
		"one image each":                 {0, false, -1, 1},
		"one image each twice":           {C, true, -1, 1},
		"two of eight":                   {2, false, -1, 0.75},
		"two images each":                {C, false, -1, 0},
		"part of two images each":        {6, false, 0, 0},
		"all pairs of a session missing": {0, false, 0.75, 1},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		var rows [][]float64
		var y []string
		classes := make([][][]float64, C)
		for k := range C {
			for i := range 2 {
				row := make([]float64, d)
				for j := range row {
					row[j] = float64(float32(rng.NormFloat64() / float64(j+1)))
				}
				blas64.Scal(1/blas64.Nrm2(dense.Vector(row)), dense.Vector(row))
				if i == 1 && c.same {
					row = rows[len(rows)-1]
				}
				if i == 0 || k < c.second {
					rows, y = append(rows, row), append(y, string(rune('a'+k)))
					classes[k] = append(classes[k], row)
				}
			}
		}
		x := dense.New32(len(rows), d)
		for i, row := range rows {
			for j, v := range row {
				x.Data[i*d+j] = float32(v)
			}
		}
		b := must.Get(basisOf(x, y))(t)
		if c.given >= 0 {
			b.GuessAs(&c.given)
		}
		sp := must.Get(b.Space(epsilon))(t)
		S, T := spreads(classes)
		want := dense.New(d, d)
		for i := range d {
			for j := range d {
				round := func(m blas64.General, e float64) float64 {
					v := (1 - e) * m.Data[i*d+j]
					if i == j {
						v += e * dense.Trace(m) / d
					}
					return v
				}
				want.Data[i*d+j] = (1-c.guessed)*round(S, epsilon) + c.guessed*2/3*round(T, 0.9)
			}
		}
		// L⁻¹·W·L⁻ᵀ = I.
		half, eye := dense.New(d, d), dense.New(d, d)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, sp.Whiten.Dense(), want, 0, half)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, half, sp.Whiten.Dense(), 0, eye)
		for i, v := range dense.Identity(d).Data {
			if math.Abs(eye.Data[i]-v) > 1e-5 {
				t.Fatalf("%s: L⁻¹WL⁻ᵀ is %g at (%d,%d)", name, eye.Data[i], i/d, i%d)
			}
		}
		if least := c.guessed / 2; sp.Rest < least || (c.guessed == 1) != (math.Abs(sp.Rest-0.5) < 1e-12) ||
			(c.guessed == 1) != (math.Abs(sp.Beta[0]-0.5) < 1e-12) {
			t.Errorf("%s: β is %g, and %g elsewhere", name, sp.Beta, sp.Rest)
		}
	}
}

// spreads returns the covariance within classes (divisor Σ(n−1)) and that of an
// image of a random class.
func spreads(classes [][][]float64) (S, T blas64.General) {
	d, C := len(classes[0][0]), float64(len(classes))
	S, T = dense.New(d, d), dense.New(d, d)
	origin := make([]float64, d)
	means := make([][]float64, len(classes))
	degrees, noise := 0.0, 0.0
	for k, class := range classes {
		means[k] = make([]float64, d)
		for _, row := range class {
			blas64.Axpy(1/float64(len(class)), dense.Vector(row), dense.Vector(means[k]))
		}
		blas64.Axpy(1/C, dense.Vector(means[k]), dense.Vector(origin))
		degrees += float64(len(class) - 1)
		noise += 1 / float64(len(class)) / C
	}
	outer := func(m blas64.General, weight float64, a, b []float64) {
		for i := range d {
			for j := range d {
				m.Data[i*d+j] += weight * (a[i] - b[i]) * (a[j] - b[j])
			}
		}
	}
	for k, class := range classes {
		for _, row := range class {
			outer(S, 1/max(degrees, 1), row, means[k])
		}
		outer(T, 1/C, means[k], origin)
	}
	blas64.Axpy(1-noise, dense.Vector(S.Data), dense.Vector(T.Data))
	return S, T
}
