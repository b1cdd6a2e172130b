package polyagamma

import (
	"math"
	"math/rand/v2"
)

// cut is t of Polson et al., the point where the two forms of the series and the
// two proposals meet.
const cut = 0.64

// wide is the z from which the mass above the cut is zero in 53 bits.
const wide = 16

// sure is the u below which every proposal is accepted: a₁(x)/a₀(x) is largest
// at the cut, where it is 3·exp(−4/0.64) = 0.0058.
const sure = 1 - 0.006

// Draw returns a draw from PG(1, c). It takes bounded expected time at any c;
// PG(1, ±Inf) is 0 and NaN gives NaN.
func Draw(rng *rand.Rand, c float64) float64 {
	z := math.Abs(c) / 2
	switch {
	case z != z:
		return z
	case z > math.MaxFloat64:
		return 0
	}
	for {
		x := propose(rng, z)
		if accept(rng.Float64(), x) {
			return x / 4
		}
	}
}

// DrawSum returns a draw from PG(b, c) in O(b): 0 for b = 0 and NaN for negative
// b, for which the distribution does not exist.
func DrawSum(rng *rand.Rand, b int, c float64) float64 {
	if b < 0 {
		return math.NaN()
	}
	var sum float64
	for range b {
		sum += Draw(rng, c)
	}
	return sum
}

// propose draws from the envelope, a₀ tilted by exp(−z²x/2).
func propose(rng *rand.Rand, z float64) float64 {
	if aboveCut(rng.Float64(), z) {
		return cut + rng.ExpFloat64()/rate(z)
	}
	if z*cut < 1 {
		return shortLevy(rng, z)
	}
	return shortInverseGaussian(rng, z)
}

func rate(z float64) float64 { return math.Pi*math.Pi/8 + z*z/2 }

// accept reports whether the proposal x is accepted: it compares u with the
// alternating series 1 − a₁/a₀ + a₂/a₀ − …, whose partial sums bracket the limit.
func accept(u, x float64) bool {
	if u < sure {
		return true
	}
	decay := math.Pi * math.Pi * x / 2 // aₙ/a₀ = (2n+1)·exp(−(n²+n)·decay)
	if x <= cut {
		decay = 2 / x
	}
	sum := 1.0
	for n := 1.0; ; n += 2 {
		sum -= (2*n + 1) * math.Exp(-(n*n+n)*decay)
		if u <= sum {
			return true
		}
		sum += (2*n + 3) * math.Exp(-(n+1)*(n+2)*decay)
		if u > sum {
			return false
		}
		if n > 60 { // u is the limit itself, to the last bit
			return true
		}
	}
}

// shortLevy draws from the inverse Gaussian of mean 1/z and shape 1, truncated
// to values below the cut, if the mean lies above the cut: it draws from 1/χ²
// below the cut (Devroye 1986) and tilts by rejection.
func shortLevy(rng *rand.Rand, z float64) float64 {
	for {
		e := rng.ExpFloat64()
		if e*e > 2*rng.ExpFloat64()/cut {
			continue
		}
		d := 1 + cut*e
		x := cut / (d * d)
		a := z * z * x / 2
		if a < 1e-18 || rng.Float64() < math.Exp(-a) {
			return x
		}
	}
}

// shortInverseGaussian draws from the same distribution if the mean lies below
// the cut: it draws as in Michael, Schucany and Haas 1976 until the value is
// below the cut, which holds for more than half of the draws. The smaller root
// is computed in a form without cancellation.
func shortInverseGaussian(rng *rand.Rand, z float64) float64 {
	mu := 1 / z
	for {
		y := rng.NormFloat64()
		a := mu * y * y / 2
		x := mu / (1 + a + math.Sqrt(a*(2+a)))
		if rng.Float64()*(mu+x) > mu {
			x = mu * (mu / x)
		}
		if x <= cut {
			return x
		}
	}
}

// Mean returns E[ω] = b·tanh(c/2)/(2c) of PG(b, c).
func Mean(b int, c float64) float64 {
	c = math.Abs(c)
	if c < 1e-4 {
		return float64(b) * (0.25 - c*c/48)
	}
	return float64(b) * math.Tanh(c/2) / (2 * c)
}

// Variance returns b·(sinh c − c)/(4c³·cosh²(c/2)) of PG(b, c), to working
// precision at any c.
func Variance(b int, c float64) float64 {
	c = math.Abs(c)
	switch {
	case c < 1:
		cosh := math.Cosh(c / 2)
		return float64(b) * sinhExcess(c) / (4 * cosh * cosh)
	case c > 800: // e^{−c} is 0
		return float64(b) / (2 * c * c * c)
	}
	e := math.Exp(-c) // numerator and denominator times 2e^{−c}: no overflow
	return float64(b) * (1 - e*e - 2*c*e) / ((1 + e) * (1 + e)) / (2 * c * c * c)
}

// sinhExcess returns (sinh c − c)/c³ for c up to 1 by its series.
func sinhExcess(c float64) float64 {
	var sum float64
	for n := 17.0; n >= 3; n -= 2 { // 1/3!·(1 + c²/(4·5)·(1 + c²/(6·7)·(…)))
		sum = (1 + c*c*sum) / (n * (n - 1))
	}
	return sum
}
