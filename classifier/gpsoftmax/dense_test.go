package gpsoftmax

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// dense draws f from N(Σb, Σ), Σ = P⁻¹, by the textbook method.
func denseOf(t testing.TB, precision *mat.SymDense, b []float64, rng *rand.Rand) []float64 {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		t.Fatal("the precision is not positive definite")
	}
	var mean, noise mat.VecDense
	must.Do(t, chol.SolveVecTo(&mean, mat.NewVecDense(len(b), b)))
	z := mat.NewVecDense(len(b), nil)
	addNormals(rng, z.RawVector().Data)
	var u mat.TriDense
	chol.UTo(&u)
	must.Do(t, noise.SolveVec(&u, z))
	mean.AddVec(&mean, &noise)
	return mean.RawVector().Data
}

// priorPrecision returns I⊗K⁻¹.
func priorPrecision(t testing.TB, d data) *mat.SymDense {
	t.Helper()
	n := len(d.own)
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(n, d.k.Data)) {
		t.Fatal("K is singular")
	}
	var inv mat.SymDense
	must.Do(t, chol.InverseTo(&inv))
	p := mat.NewSymDense(n*d.classes, nil)
	for c := range d.classes {
		for i := range n {
			for j := range i + 1 {
				p.SetSym(c*n+i, c*n+j, inv.At(i, j))
			}
		}
	}
	return p
}

// TestAgainstTheDenseSampler compares long runs with the samplers as printed in
// the literature, with K⁻¹, and with λ | n instead of λ | f.
func TestAgainstTheDenseSampler(t *testing.T) {
	d := world(t, rbf(3), []float64{-1, 0, 0.7, 1.5, 2.6}, []int{0, 0, 1, 2, 1}, 3)
	n := len(d.own)
	prior := priorPrecision(t, d)
	rates := []float64{1, 1, 1, 1, 1}
	for name, augment := range map[string]func(f blas64.General, p *mat.SymDense, b []float64, rng *rand.Rand){
		LSM: func(f blas64.General, p *mat.SymDense, b []float64, rng *rand.Rand) {
			for i, own := range d.own {
				var sum float64
				for c := range 3 {
					v, at := dense.Row(f, c)[i], c*n+i
					count := poisson(rng, rates[i]*sigmoid(-v))
					sum += count
					y := 0.0
					if c == own {
						y = 1
					}
					b[at] = (y - count) / 2
					p.SetSym(at, at, p.At(at, at)+polyagamma.DrawSum(rng, int(y+count), v))
				}
				rates[i] = 0 // Gamma(1+Σn, C)
				for range int(sum) + 1 {
					rates[i] += rng.ExpFloat64() / 3
				}
			}
		},
		OVE: func(f blas64.General, p *mat.SymDense, b []float64, rng *rand.Rand) {
			for i, own := range d.own {
				for c := range 3 {
					if c == own {
						continue
					}
					y, at := own*n+i, c*n+i
					w := polyagamma.Draw(rng, dense.Row(f, own)[i]-dense.Row(f, c)[i])
					b[y] += 0.5
					b[at] -= 0.5
					p.SetSym(y, y, p.At(y, y)+w)
					p.SetSym(at, at, p.At(at, at)+w)
					p.SetSym(y, at, p.At(y, at)-w)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := likelihoodOf(name)
			want, wantSEM := averaged(t, d, l, 6000, func(f, _ blas64.General, rng *rand.Rand) {
				p, b := mat.NewSymDense(3*n, nil), make([]float64, 3*n)
				p.CopySym(prior)
				augment(f, p, b, rng)
				copy(f.Data, denseOf(t, p, b, rng))
			})
			got, sem := sampled(t, d, l, 6000)
			for at := range sem.mean {
				sem.mean[at] = math.Hypot(sem.mean[at], wantSEM.mean[at])
				sem.square[at] = math.Hypot(sem.square[at], wantSEM.square[at])
				sem.predictive[at] = math.Hypot(sem.predictive[at], wantSEM.predictive[at])
			}
			agree(t, got, sem, want, 0)
		})
	}
}

// TestRateIsItsMarginal checks that λ and n drawn by the two conditionals that
// the literature alternates have the same moments as λ | f ~ Exp(Σσ(f)).
func TestRateIsItsMarginal(t *testing.T) {
	f, rng := []float64{1.2, -0.4, -2}, rand.New(rand.NewPCG(1, 1))
	var total float64
	for _, v := range f {
		total += sigmoid(v)
	}
	const draws = 400_000
	rate, sum, square := 1.0, 0.0, 0.0
	var counts [3]float64
	for range draws {
		shape := 1.0
		for c, v := range f {
			n := poisson(rng, rate*sigmoid(-v))
			counts[c] += n / draws
			shape += n
		}
		rate = 0
		for range int(shape) {
			rate += rng.ExpFloat64() / 3
		}
		sum += rate / draws
		square += rate * rate / draws
	}
	if math.Abs(sum*total-1) > 0.02 || math.Abs(square*total*total/2-1) > 0.05 {
		t.Errorf("E λ = %g, E λ² = %g; want %g, %g", sum, square, 1/total, 2/(total*total))
	}
	for c, v := range f {
		if want := sigmoid(-v) / total; math.Abs(counts[c]-want) > 0.03*want {
			t.Errorf("E n_%d = %g, want %g", c, counts[c], want)
		}
	}
}

// line returns a matrix with one column.
func line(at ...float32) blas32.General {
	return blas32.General{Rows: len(at), Cols: 1, Stride: 1, Data: at}
}

// logProbs returns the probabilities of new points on a line.
func logProbs(t testing.TB, h *Head, at ...float32) blas64.General {
	t.Helper()
	dst := dense.New(len(at), len(h.Classes()))
	must.Do(t, h.Score(dst, nil, line(at...)))
	return dst
}

func raw(change func(*Config)) Config {
	c := DefaultLSM()
	c.Normalize, c.Outputscale, c.Chains, c.Steps, c.Draws = false, 3, 300, 8, 10
	change(&c)
	return c
}

// TestPredictionIsTheIntegral checks points that were not learned, one of them
// far from all others, where the kernel leaves f open.
func TestPredictionIsTheIntegral(t *testing.T) {
	for _, method := range []string{LSM, OVE} {
		h := must.Get(New(method, raw(func(*Config) {})))(t)
		must.Do(t, h.Learn(context.Background(), line(0, 1.2), []string{"a", "b"}))
		for _, x := range []float32{-0.5, 0.9, 40} {
			d := world(t, rbf(3), []float64{0, float64(float32(1.2)), float64(x)}, []int{0, 1, -1}, 2)
			want := integrated(d, likelihoodOf(method), 7).predictive[2]
			if got := math.Exp(logProbs(t, h, x).Data[0]); math.Abs(got-want) > 0.03 {
				t.Errorf("%s: p(a | %g) = %.3f, want %.3f", method, x, got, want)
			}
		}
	}
}

// TestTwoClassesAreBinary checks that one-vs-each with two classes is the
// logistic model with kernel 2K.
func TestTwoClassesAreBinary(t *testing.T) {
	at, y := []float32{-2, -1, -0.3, 0.4, 1, 2}, []string{"a", "a", "b", "a", "b", "b"}
	h := must.Get(New(OVE, raw(func(*Config) {})))(t)
	must.Do(t, h.Learn(context.Background(), line(at...), y))
	k, wide := rbf(6), dense.New(len(at), 1)
	left := make([]bool, len(y))
	for i := range at {
		wide.Data[i], left[i] = float64(at[i]), y[i] == "a"
	}
	x := must.Get(k.Points(wide))(t)
	gram := k.Gram(x)
	prior := must.Get(gp.FunctionSpace(gram))(t)
	node := must.Get(gp.FitGibbs(context.Background(), prior, left, gp.Schedule{Chains: 300, Steps: 8},
		func(c int) *rand.Rand { return rand.New(rand.NewPCG(4, uint64(c))) }))(t)
	latent := must.Get(node.Latent(gram, []float64{6, 6, 6, 6, 6, 6}))(t)
	yes, no := make([]float64, len(at)), make([]float64, len(at))
	latent.LogProbs(yes, no, gp.Quadrature)
	got := logProbs(t, h, at...)
	for i := range at {
		if p, want := math.Exp(dense.Row(got, i)[0]), math.Exp(yes[i]); math.Abs(p-want) > 0.03 {
			t.Errorf("p(a | %g) = %.3f, the binary model says %.3f", at[i], p, want)
		}
	}
}

// TestTooMany checks that sessions that are too large are refused with the
// numbers, and that nothing changes.
func TestTooMany(t *testing.T) {
	for _, c := range []struct {
		method string
		cfg    Config
		want   string
	}{
		{LSM, raw(func(c *Config) { c.MaxPerClass = 2 }),
			`3 examples of class "a", at most 2 are stored: give it fewer, or raise classifier.lsm.max_per_class`},
		{LSM, raw(func(c *Config) { c.MaxSystem = 4 }), "5 examples of 3 classes make dense systems of order n = 5"},
		{OVE, raw(func(c *Config) { c.MaxSystem = 9 }), "order n(C−1) = 10"},
	} {
		h := must.Get(New(c.method, c.cfg))(t)
		err := h.Learn(context.Background(), line(1, 2, 3, 4, 5), []string{"a", "a", "a", "b", "c"})
		var many *TooManyError
		if !errors.As(err, &many) || !strings.Contains(err.Error(), c.want) || len(h.Classes()) > 0 {
			t.Errorf("%s: %v, classes %v", c.method, err, h.Classes())
		}
	}
}

// TestExtremeFunctions checks that nothing hangs or becomes NaN where σ
// underflows and counts are huge.
func TestExtremeFunctions(t *testing.T) {
	for _, method := range []string{LSM, OVE} {
		h := must.Get(New(method, raw(func(c *Config) { c.Outputscale, c.Chains = 1e6, 4 })))(t)
		must.Do(t, h.Learn(context.Background(), line(0, 0, 1, 9), []string{"a", "b", "b", "c"}))
		for _, v := range logProbs(t, h, 0, 0.5, 100).Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: log-probability %g", method, v)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, b := range []int{0, 1, 40, exactUpTo + 1, 1 << 30} {
		for _, c := range []float64{0, -3, 700, -1e6} {
			if w := drawOmega(rng, b, c); !(w >= 0 && w <= float64(b)) {
				t.Errorf("PG(%d, %g) drew %g", b, c, w)
			}
		}
	}
}
