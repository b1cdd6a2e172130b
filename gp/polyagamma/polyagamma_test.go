package polyagamma_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/gp/polyagamma"
)

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

// TestMoments: means and variances of 2·10⁶ draws in all lie within five
// standard errors of the exact ones.
func TestMoments(t *testing.T) {
	const n = 200_000
	for i, c := range []float64{0, 0.1, -1, 3, -3.2, 6, 12, 50, -50, 1e4} {
		rng := stream(uint64(i))
		mean, variance := polyagamma.Mean(1, c), polyagamma.Variance(1, c)
		var sum, squares, fourth float64
		for range n {
			d := polyagamma.Draw(rng, c) - mean
			sum += d
			squares += d * d
			fourth += d * d * d * d
		}
		if z := sum / math.Sqrt(n*variance); math.Abs(z) > 5 {
			t.Errorf("c = %g: mean off by %.1f standard errors", c, z)
		}
		error2 := (fourth - squares*squares/n) / n / n // squared, of the mean square
		if z := (squares/n - variance) / math.Sqrt(error2); math.Abs(z) > 5 {
			t.Errorf("c = %g: variance %g, want %g (%.1f standard errors)", c, squares/n, variance, z)
		}
	}
}

// TestLaplaceTransform: E[e^{−ωs}] = cosh(c/2)/cosh(√(c²/4 + s/2)), to the
// power b.
func TestLaplaceTransform(t *testing.T) {
	const n = 40_000
	for _, c := range []float64{0, 1, -4, 20} {
		for _, b := range []int{1, 3} {
			draws := make([]float64, n)
			rng := stream(uint64(b) + uint64(math.Abs(c))*10)
			for i := range draws {
				draws[i] = polyagamma.DrawSum(rng, b, c)
			}
			for _, s := range []float64{0.3, 2, 10, 60} {
				want := math.Pow(math.Cosh(c/2)/math.Cosh(math.Sqrt(c*c/4+s/2)), float64(b))
				var sum, squares float64
				for _, w := range draws {
					e := math.Exp(-w * s)
					sum += e
					squares += e * e
				}
				got := sum / n
				if z := (got - want) / math.Sqrt((squares/n-got*got)/n); math.Abs(z) > 5 {
					t.Errorf("b = %d, c = %g, s = %g: %g, want %g (%.1f standard errors)", b, c, s, got, want, z)
				}
			}
		}
	}
}

// density is that of PG(1, c) by its series, both forms of which must agree.
func density(x, c float64) float64 {
	j := 4 * x
	var sum float64
	for n := 0.0; n < 40; n++ {
		sign := 1 - 2*math.Mod(n, 2)
		sum += sign * math.Pi * (n + 0.5) * math.Exp(-(n+0.5)*(n+0.5)*math.Pi*math.Pi*j/2)
	}
	if j < 0.5 {
		sum = 0
		for n := 0.0; n < 40; n++ {
			sign := 1 - 2*math.Mod(n, 2)
			sum += sign * (2*n + 1) * math.Sqrt(2/(math.Pi*j*j*j)) * math.Exp(-(2*n+1)*(2*n+1)/(2*j))
		}
	}
	return 4 * math.Cosh(c/2) * math.Exp(-c*c*x/2) * sum
}

// TestDistribution: a χ² test of 40 cells against the integrated density, on
// both sides of every switch between proposals.
func TestDistribution(t *testing.T) {
	const n, cells, width = 60_000, 40, 0.025
	for _, c := range []float64{0, 0.02, 2, 3.12, 3.13, 5} {
		var want [cells + 1]float64
		rest := 1.0
		for i := range cells {
			const steps = 200
			for s := range steps {
				x := (float64(i) + (float64(s)+0.5)/steps) * width
				want[i] += density(x, c) * width / steps
			}
			rest -= want[i]
		}
		want[cells] = max(rest, 0)
		var got [cells + 1]float64
		rng := stream(99)
		for range n {
			got[min(int(polyagamma.Draw(rng, c)/width), cells)]++
		}
		var chi, freedom float64
		for i, p := range want {
			if n*p >= 5 {
				chi += (got[i] - n*p) * (got[i] - n*p) / (n * p)
				freedom++
			}
		}
		if chi > freedom+5*math.Sqrt(2*freedom) {
			t.Errorf("c = %g: χ² = %.1f of %.0f cells", c, chi, freedom)
		}
	}
}

func TestEven(t *testing.T) {
	a, b := stream(1), stream(1)
	for i := range 2000 {
		c := float64(i) / 40
		if x, y := polyagamma.Draw(a, c), polyagamma.Draw(b, -c); x != y {
			t.Fatalf("PG(1, ±%g): %g and %g", c, x, y)
		}
	}
	if polyagamma.Mean(2, -3) != polyagamma.Mean(2, 3) || polyagamma.Variance(2, -3) != polyagamma.Variance(2, 3) {
		t.Error("moments are not even")
	}
}

// TestNoHang: every c gives a result, a positive finite number if there is one.
func TestNoHang(t *testing.T) {
	rng := stream(3)
	for _, c := range []float64{0, 5e-324, 1e-160, 3.125, 31.9, 32, 32.1, 700, 1e4, -1e4, 1e8, 1e150, -1e300} {
		for range 1000 {
			if w := polyagamma.Draw(rng, c); !(w > 0 && w < 10) {
				t.Fatalf("PG(1, %g) = %g", c, w)
			}
		}
	}
	if w := polyagamma.Draw(rng, math.Inf(-1)); w != 0 {
		t.Errorf("PG(1, −Inf) = %g", w)
	}
	if !math.IsNaN(polyagamma.Draw(rng, math.NaN())) || !math.IsNaN(polyagamma.DrawSum(rng, -1, 0)) ||
		polyagamma.DrawSum(rng, 0, 7) != 0 {
		t.Error("NaN, b = −1 or b = 0")
	}
}

// TestMomentsAreTheFormulas at c where the formulas as printed lose nothing,
// and against them in big steps where they do.
func TestMomentsAreTheFormulas(t *testing.T) {
	for _, c := range []float64{0.5, 0.99, 1, 1.01, 2, 10, 40} {
		mean := math.Tanh(c/2) / (2 * c)
		variance := (math.Sinh(c) - c) / (4 * c * c * c * math.Pow(math.Cosh(c/2), 2))
		if math.Abs(polyagamma.Mean(3, c)-3*mean) > 1e-14 || math.Abs(polyagamma.Variance(3, c)/variance-3) > 1e-13 {
			t.Errorf("c = %g: %g, %g; want 3·%g, 3·%g", c, polyagamma.Mean(3, c), polyagamma.Variance(3, c), mean,
				variance)
		}
	}
	for _, c := range []float64{0, 1e-300, 1e-9, 0.99e-4, 1.01e-4, 1e-3} {
		mean, variance := 0.25-c*c/48+c*c*c*c/480, 1.0/24-c*c/120
		if math.Abs(polyagamma.Mean(1, c)-mean) > 1e-15 || math.Abs(polyagamma.Variance(1, c)-variance) > 1e-13 {
			t.Errorf("c = %g: %.17g, %.17g; want %.17g, %.17g", c, polyagamma.Mean(1, c), polyagamma.Variance(1, c),
				mean, variance)
		}
	}
	if v := polyagamma.Variance(1, 1e4); math.Abs(v/5e-13-1) > 1e-12 || polyagamma.Mean(1, 1e4) != 5e-5 {
		t.Errorf("c = 1e4: %g, %g", polyagamma.Mean(1, 1e4), v)
	}
	if polyagamma.Mean(1, math.Inf(1)) != 0 || polyagamma.Variance(1, math.Inf(1)) != 0 {
		t.Error("c = +Inf")
	}
}

func TestRepeats(t *testing.T) {
	draw := func() (out []float64) {
		rng := stream(5)
		for i := range 100 {
			out = append(out, polyagamma.DrawSum(rng, i%3, float64(i-50)/7))
		}
		return out
	}
	if !slices.Equal(draw(), draw()) {
		t.Error("the same stream gives other draws")
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, c := range []float64{0, 1, 2.5, 5, 50, 1e4} {
		b.Run(fmt.Sprintf("c=%g", c), func(b *testing.B) {
			rng := stream(1)
			for b.Loop() {
				polyagamma.Draw(rng, c)
			}
		})
	}
	b.Run("c=mixed", func(b *testing.B) { // as a Gibbs chain draws them
		rng := stream(1)
		c := make([]float64, 4096)
		for i := range c {
			c[i] = 3 * rng.NormFloat64()
		}
		for i := 0; b.Loop(); i++ {
			polyagamma.Draw(rng, c[i%4096])
		}
	})
}
