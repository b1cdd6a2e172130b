package quadrature_test

import (
	"math"
	"testing"

	"github.com/seed-90d10d51/pipeline/gp/quadrature"
)

// expect integrates g against N(mean, variance) by the trapezoidal rule, which
// converges geometrically for these functions.
func expect(g func(float64) float64, mean, variance float64) float64 {
	const steps, reach = 4_000, 13.0
	var sum float64
	for i := -steps; i <= steps; i++ {
		z := reach * float64(i) / steps
		sum += math.Exp(-z*z/2) * g(mean+math.Sqrt(variance)*z)
	}
	return sum * reach / steps / math.Sqrt(2*math.Pi)
}

func sigmoid(f float64) float64 { return math.Exp(quadrature.LogSigmoid(f)) }

func TestAgainstIntegration(t *testing.T) {
	for variance, tolerance := range map[float64]float64{0: 1e-12, 0.01: 1e-12, 1: 1e-8, 4: 1e-5, 10: 5e-4, 100: 0.03} {
		for _, mean := range []float64{0, 0.3, -1, 2.5, -6} {
			yes, no := quadrature.LogSigmoids(mean, variance)
			if want := expect(sigmoid, mean, variance); math.Abs(math.Exp(yes)-want) > tolerance {
				t.Errorf("μ = %g, v = %g: %.10g, want %.10g", mean, variance, math.Exp(yes), want)
			}
			if s := math.Exp(yes) + math.Exp(no); math.Abs(s-1) > 1e-14 {
				t.Errorf("μ = %g, v = %g: sum %.17g", mean, variance, s)
			}
		}
	}
}

// TestSymmetricAndFinite: with −μ the same twenty terms are added, those of a pair of nodes
// the other way round, so the sums agree to twenty roundings. They agree to the last bit on
// amd64, and not on arm64, whose exponentials have other last bits.
func TestSymmetricAndFinite(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 20*0x1p-52*max(1, math.Abs(a)) }
	for _, mean := range []float64{0, 1e-300, 0.7, 40, 600, 800, 1e5, 1e300} {
		for _, variance := range []float64{0, 1e-300, 1, 1e4, 1e300, -1e-12} {
			yes, no := quadrature.LogSigmoids(mean, variance)
			back, forth := quadrature.LogSigmoids(-mean, variance)
			if !near(yes, forth) || !near(no, back) {
				t.Errorf("μ = ±%g, v = %g: %g, %g and %g, %g", mean, variance, yes, no, back, forth)
			}
			for _, l := range []float64{yes, no} {
				if math.IsNaN(l) || math.IsInf(l, 0) || l > 0 {
					t.Errorf("μ = %g, v = %g: %g", mean, variance, l)
				}
			}
		}
	}
}

// TestLogsTakeOver: there is no jump where the sum switches to logarithms.
func TestLogsTakeOver(t *testing.T) {
	last := math.Inf(1)
	for mean := -560.0; mean > -600; mean -= 0.25 {
		yes, _ := quadrature.LogSigmoids(mean, 1)
		if want := mean + 0.5; math.Abs(yes-want) > 1e-9*-want { // E e^f = e^{μ+v/2}
			t.Fatalf("μ = %g: %.12g, want %.12g", mean, yes, want)
		}
		if yes >= last {
			t.Fatalf("μ = %g: %g is not below %g", mean, yes, last)
		}
		last = yes
	}
}

func TestPlugInIsNoVariance(t *testing.T) {
	for _, mean := range []float64{0, -3, 900} {
		a, b := quadrature.PlugIn(mean)
		c, d := quadrature.LogSigmoids(mean, 0)
		if math.Abs(a-c) > 1e-13*(1+math.Abs(a)) || math.Abs(b-d) > 1e-13*(1+math.Abs(b)) {
			t.Errorf("μ = %g: %g, %g and %g, %g", mean, a, b, c, d)
		}
	}
}

func BenchmarkLogSigmoids(b *testing.B) {
	for b.Loop() {
		quadrature.LogSigmoids(0.7, 2)
	}
}
