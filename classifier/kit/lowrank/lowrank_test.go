package lowrank_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-90d10d51/pipeline/classifier/kit/lowrank"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// gaussian draws a Gaussian of q components with variances decreasing from
// wide.
func gaussian(d, q int, lambda, wide float64, seed uint64) lowrank.Gaussian {
	rng := rand.New(rand.NewPCG(seed, 5))
	g := lowrank.Gaussian{Mean: make([]float64, d), Lambda: lambda}
	for j := range g.Mean {
		g.Mean[j] = rng.NormFloat64()
	}
	x := dense.New(q, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	e, err := linalg.Solver{}.ThinEigen(x, q, 1)
	if err != nil {
		panic(err)
	}
	for b := range q {
		g.Values = append(g.Values, wide*math.Pow(0.7, float64(b)))
	}
	for _, v := range e.Vectors.Data {
		g.Basis = append(g.Basis, float32(v))
	}
	return g
}

// family returns Gaussians with every number of components from 0 to d, and
// several λ.
func family(d int) []lowrank.Gaussian {
	return []lowrank.Gaussian{
		gaussian(d, 3, 0.1, 1, 1), gaussian(d, 0, 0.1, 1, 2), gaussian(d, d, 0.1, 2, 3), gaussian(d, 5, 1, 3, 4),
		gaussian(d, 1, 0.02, 1, 5), gaussian(d, 3, 0.1, 1, 6), gaussian(d, 0, 1, 1, 7),
	}
}

func covariance(g lowrank.Gaussian) *mat.SymDense {
	d := g.Dim()
	s := mat.NewSymDense(d, nil)
	for j := range d {
		s.SetSym(j, j, g.Lambda)
	}
	for b, v := range g.Values {
		l := mat.NewVecDense(d, nil)
		for j := range d {
			l.SetVec(j, float64(g.Basis[b*d+j]))
		}
		s.SymRankOne(s, v, l)
	}
	return s
}

func factor(t *testing.T, s *mat.SymDense) *mat.Cholesky {
	t.Helper()
	var c mat.Cholesky
	if !c.Factorize(s) {
		t.Fatal("not positive definite")
	}
	return &c
}

func difference(p, q lowrank.Gaussian) *mat.VecDense {
	v := mat.NewVecDense(p.Dim(), nil)
	for j := range p.Mean {
		v.SetVec(j, p.Mean[j]-q.Mean[j])
	}
	return v
}

func mahalanobis(c *mat.Cholesky, delta *mat.VecDense) float64 {
	var y mat.VecDense
	if err := c.SolveVecTo(&y, delta); err != nil {
		return math.NaN()
	}
	return mat.Dot(delta, &y)
}

func denseKL(t *testing.T, p, q lowrank.Gaussian) float64 {
	cp, cq := factor(t, covariance(p)), factor(t, covariance(q))
	var ratio mat.Dense
	must.Do(t, cq.SolveTo(&ratio, covariance(p)))
	return (cq.LogDet() - cp.LogDet() - float64(p.Dim()) + mat.Trace(&ratio) + mahalanobis(cq, difference(p, q))) / 2
}

func denseBhattacharyya(t *testing.T, p, q lowrank.Gaussian) (mean, spread float64) {
	var sum mat.SymDense
	sum.AddSym(covariance(p), covariance(q))
	sum.ScaleSym(0.5, &sum)
	c := factor(t, &sum)
	return mahalanobis(c, difference(p, q)) / 8,
		(c.LogDet() - (factor(t, covariance(p)).LogDet()+factor(t, covariance(q)).LogDet())/2) / 2
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s: %.10g, want %.10g", what, got, want)
	}
}

// tolerance is that of float32 products with D/λ up to 100.
const tolerance = 2e-5

func TestDivergencesEqualDense(t *testing.T) {
	gs := family(9)
	set := lowrank.NewSet(gs, linalg.Backend{})
	kl := dense.New(len(gs), len(gs))
	must.Do(t, set.KL(kl, gs))
	full, mean := make([]float64, len(gs)), make([]float64, len(gs))
	for j, q := range gs {
		must.Do(t, set.Bhattacharyya(full, q, false))
		must.Do(t, set.Bhattacharyya(mean, q, true))
		near(t, fmt.Sprint("log-determinant of ", j), q.LogDet(), factor(t, covariance(q)).LogDet(), 1e-6)
		for i, p := range gs {
			near(t, fmt.Sprintf("KL of %d from %d", i, j), kl.Data[i*kl.Stride+j], denseKL(t, p, q), tolerance)
			m, s := denseBhattacharyya(t, p, q)
			near(t, fmt.Sprintf("Bhattacharyya of %d and %d", i, j), full[i], m+s, tolerance)
			near(t, fmt.Sprintf("its mean term of %d and %d", i, j), mean[i], m, tolerance)
		}
		near(t, "KL from itself", kl.Data[j*kl.Stride+j], 0, tolerance)
		near(t, "Bhattacharyya distance from itself", full[j], 0, tolerance)
	}
}

// TestBoundsAreBelow also checks part of the set.
func TestBoundsAreBelow(t *testing.T) {
	gs := family(9)
	set := lowrank.NewSet(gs, linalg.Backend{})
	kl, bound := dense.New(len(gs), len(gs)), dense.New(len(gs), len(gs))
	must.Do(t, errors.Join(set.KL(kl, gs), set.KLBound(bound, gs)))
	for i, v := range bound.Data {
		if !(v >= 0 && v <= kl.Data[i]*(1+tolerance)+tolerance) {
			t.Errorf("%d, %d: bound %g of %g", i/len(gs), i%len(gs), v, kl.Data[i])
		}
	}
	part := must.Get(set.KLOf([]int{4, 2}, gs[1:4]))(t)
	for j := range 3 {
		near(t, "part of a set", part.Data[j], kl.Data[4*len(gs)+1+j], tolerance)
		near(t, "part of a set", part.Data[3+j], kl.Data[2*len(gs)+1+j], tolerance)
	}
}

func TestPairsEqualSets(t *testing.T) {
	gs := family(7)
	a, err := lowrank.KL(gs[0], gs[3])
	near(t, "KL", a, denseKL(t, gs[0], gs[3]), tolerance)
	b, c := make([]float64, 1), make([]float64, 1)
	err2 := lowrank.NewSet(gs[:1], linalg.Backend{}).Bhattacharyya(b, gs[3], false)
	err3 := lowrank.NewSet(gs[3:4], linalg.Backend{}).Bhattacharyya(c, gs[0], false)
	near(t, "symmetry", b[0], c[0], tolerance)
	if err != nil || err2 != nil || err3 != nil {
		t.Error(err, err2, err3)
	}
}

// TestExtremesStayFinite uses values whose square overflows float32, and D/λ of
// 1e60.
func TestExtremesStayFinite(t *testing.T) {
	gs := []lowrank.Gaussian{gaussian(6, 3, 1e-2, 1e60, 1), gaussian(6, 3, 1e-2, 1e-60, 2),
		gaussian(6, 2, 1e-2, 1e60, 3)}
	for i := range gs {
		for j := range gs[i].Mean {
			gs[i].Mean[j] *= 1e30
		}
	}
	set := lowrank.NewSet(gs, linalg.Backend{})
	kl, b := dense.New(3, 3), make([]float64, 3)
	must.Do(t, set.KL(kl, gs))
	for _, q := range gs {
		must.Do(t, set.Bhattacharyya(b, q, false))
		kl.Data = append(kl.Data, b...)
	}
	for i, v := range kl.Data {
		if !(v >= 0 && v <= math.MaxFloat64) {
			t.Errorf("divergence %d is %g", i, v)
		}
	}
}

func mixture(t *testing.T, gs []lowrank.Gaussian, weights []float64, r int) lowrank.Gaussian {
	t.Helper()
	return must.Get(lowrank.Mixture(gs, weights, r, linalg.Backend{}))(t)
}

// TestMixtureEqualsDense checks that with all components the result has the
// moments of the mixture (eq. 4.13, 4.14), thin (few Gaussians) and full
// (many), and with fewer components the leading ones.
func TestMixtureEqualsDense(t *testing.T) {
	const d = 9
	few := []lowrank.Gaussian{gaussian(d, 2, 0.1, 1, 1), gaussian(d, 3, 0.1, 1, 2)}
	many := append(family(d), family(d)...)
	for name, gs := range map[string][]lowrank.Gaussian{"few": few, "many": many, "one": few[:1]} {
		weights := make([]float64, len(gs))
		for i := range weights {
			weights[i] = float64(1 + i%3)
		}
		var sum float64
		for _, w := range weights {
			sum += w
		}
		mean := make([]float64, d)
		for i, g := range gs {
			for j, v := range g.Mean {
				mean[j] += weights[i] / sum * v
			}
		}
		want := mat.NewSymDense(d, nil)
		for i, g := range gs {
			var s mat.SymDense
			s.ScaleSym(weights[i]/sum, covariance(g))
			want.AddSym(want, &s)
			want.SymRankOne(want, weights[i]/sum, difference(g, lowrank.Gaussian{Mean: mean}))
		}
		all := mixture(t, gs, weights, d)
		got := covariance(all)
		for i := range d {
			near(t, name+": mean", all.Mean[i], mean[i], 1e-12)
			for j := range d {
				near(t, name+": covariance", got.At(i, j), want.At(i, j), 1e-6)
			}
		}
		part := mixture(t, gs, weights, 2)
		if len(part.Values) > 2 {
			t.Errorf("%s: %d components", name, len(part.Values))
		}
		for b, v := range part.Values {
			near(t, name+": value", v, all.Values[b], 1e-9)
		}
		if none := mixture(t, gs, weights, 0); len(none.Values)+len(none.Basis) != 0 {
			t.Errorf("%s: %d components of none", name, len(none.Values))
		}
	}
}

// TestMixtureMinimisesKL checks Theorem 2: no other Gaussian is nearer.
func TestMixtureMinimisesKL(t *testing.T) {
	gs := []lowrank.Gaussian{gaussian(5, 2, 0.1, 1, 1), gaussian(5, 2, 0.1, 1, 2), gaussian(5, 2, 0.1, 1, 3)}
	total := func(q lowrank.Gaussian) float64 {
		var sum float64
		for _, p := range gs {
			sum += denseKL(t, p, q)
		}
		return sum
	}
	best := mixture(t, gs, []float64{1, 1, 1}, 5)
	least := total(best)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		other := best
		other.Mean = append([]float64(nil), best.Mean...)
		other.Values = append([]float64(nil), best.Values...)
		for j := range other.Mean {
			other.Mean[j] += 0.05 * rng.NormFloat64()
		}
		for j := range other.Values {
			other.Values[j] *= math.Exp(0.1 * rng.NormFloat64())
		}
		if v := total(other); v < least {
			t.Errorf("%.10g is less than %.10g", v, least)
		}
	}
}

// TestStackEqualsDense uses means far from the centre of the products and
// queries on the components, where float32 alone loses all digits.
func TestStackEqualsDense(t *testing.T) {
	const d = 9
	gs := family(d)
	for name, c := range map[string]struct{ offset, near float64 }{
		"plain": {0, 1}, "offset": {1000, 1}, "close": {0, 1e-4},
	} {
		for i := range gs {
			for j := range gs[i].Mean {
				gs[i].Mean[j] += c.offset
			}
		}
		z := dense.New(len(gs), d)
		rng := rand.New(rand.NewPCG(9, 9))
		for i := range gs {
			for j := range d {
				z.Data[i*d+j] = gs[i].Mean[j] + c.near*rng.NormFloat64()
			}
		}
		for way := range 6 {
			logDet, mode := way%2 == 0, []lowrank.Mode{lowrank.Fast, lowrank.Precise, lowrank.Few}[way/2]
			stack := lowrank.NewStack(gs, make([]float64, d), logDet, mode, linalg.Backend{})
			rows := append([]int{0, 2, 5}, slices.Repeat([]int{1}, 20)...)
			got := must.Get(stack.Scores(lowrank.NewQueries(z, make([]float64, d)), rows))(t)
			for i, row := range rows {
				for k, g := range gs {
					want := denseScore(t, g, z, row, logDet)
					near(t, fmt.Sprintf("%s: score of row %d for %d", name, row, k), got.Data[i*got.Stride+k], want,
						1e-4)
				}
			}
		}
	}
}

// TestSumsOfStack uses whole numbers, whose products are exact in float32 but
// whose sums of squares need more than its 24 bits.
func TestSumsOfStack(t *testing.T) {
	const d, q, lambda = 32, 24, 1 << 27
	g := lowrank.Gaussian{Mean: make([]float64, d), Lambda: lambda, Values: slices.Repeat([]float64{lambda}, q),
		Basis: make([]float32, q*d)}
	z, r := dense.New(1, d), 0.0
	for j := range d {
		z.Data[j] = float64(4001 + 2*j)
		square := z.Data[j] * z.Data[j] / lambda
		if j < q {
			g.Basis[j*d+j] = 1
			square /= 2
		}
		r += square
	}
	for _, mode := range []lowrank.Mode{lowrank.Precise, lowrank.Few} {
		stack := lowrank.NewStack([]lowrank.Gaussian{g}, make([]float64, d), false, mode, linalg.Backend{})
		got := must.Get(stack.Scores(lowrank.NewQueries(z, make([]float64, d)), []int{0}))(t)
		near(t, fmt.Sprintf("mode %d", mode), got.Data[0], -r/2, 1e-12)
	}
}

func denseScore(t *testing.T, g lowrank.Gaussian, z blas64.General, row int, logDet bool) float64 {
	c := factor(t, covariance(g))
	r := mahalanobis(c, difference(lowrank.Gaussian{Mean: z.Data[row*z.Stride : row*z.Stride+z.Cols]}, g))
	if logDet {
		r += c.LogDet() - float64(g.Dim())*math.Log(g.Lambda)
	}
	return -r / 2
}

// TestBlockFindsWhatWasPacked checks that any adjacent run of Gaussians is not
// copied, and that separate ones are.
func TestBlockFindsWhatWasPacked(t *testing.T) {
	gs := family(4)
	apart := lowrank.Block(gs)
	if &apart.Data[0] == &gs[0].Basis[0] {
		t.Error("separate Gaussians were not copied")
	}
	lowrank.Pack(gs)
	all, middle := lowrank.Block(gs), lowrank.Block(gs[2:5])
	if &all.Data[0] != &gs[0].Basis[0] || &middle.Data[0] != &gs[2].Basis[0] || middle.Rows != 4+5-1+1 &&
		middle.Rows == 0 {
		t.Error("packed Gaussians were copied")
	}
	for i, v := range apart.Data {
		if all.Data[i] != v {
			t.Fatal("packing changed a component")
		}
	}
	gs[0], gs[2] = gs[2], gs[0]
	if mixed := lowrank.Block(gs); &mixed.Data[0] == &gs[0].Basis[0] {
		t.Error("another order was not copied")
	}
}

func BenchmarkSetKL(b *testing.B) {
	for _, c := range []struct{ k, s, d, q int }{{100, 10, 640, 20}, {1000, 33, 640, 20}, {1000, 33, 192, 20},
		{1000, 33, 640, 5}} {
		gs := make([]lowrank.Gaussian, c.k)
		for i := range gs {
			gs[i] = gaussian(c.d, c.q, 0.01, 0.1, uint64(i%50))
		}
		set, dst := lowrank.NewSet(gs, linalg.Backend{}), dense.New(c.k, c.s)
		b.Run(fmt.Sprintf("K=%d_S=%d_d=%d_q=r=%d", c.k, c.s, c.d, c.q), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, set.KL(dst, gs[:c.s]))
			}
		})
	}
}

func BenchmarkSetBhattacharyya(b *testing.B) {
	for _, c := range []struct{ k, d, q int }{{100, 640, 20}, {1000, 640, 20}, {1000, 640, 5}} {
		gs := make([]lowrank.Gaussian, c.k)
		for i := range gs {
			gs[i] = gaussian(c.d, c.q, 0.01, 0.1, uint64(i%50))
		}
		lowrank.Pack(gs)
		set, dst := lowrank.NewSet(gs, linalg.Backend{}), make([]float64, c.k)
		b.Run(fmt.Sprintf("K=%d_d=%d_q=%d", c.k, c.d, c.q), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, set.Bhattacharyya(dst, gs[0], false))
			}
		})
	}
}
