package classifier

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// LogSumExp returns log Σ exp(v), accurate at any finite size of v; −Inf for an
// empty v.
func LogSumExp(v []float64) float64 {
	if len(v) == 0 {
		return math.Inf(-1)
	}
	return floats.LogSumExp(v)
}

// negligible is the distance below the largest score at which a score no longer
// adds to the sum: e⁻⁴⁰ is 4e−18.
const negligible = -40

// LogSoftmax turns scores into log-probabilities in place. It subtracts the
// largest score first and takes the logarithm of the small rest only, so that
// no digits are lost when scores are huge.
func LogSoftmax(v []float64) {
	if len(v) == 0 {
		return
	}
	largest := slices.Max(v)
	var sum float64
	for j := range v {
		v[j] -= largest
		if !(v[j] <= negligible) { // so that a NaN propagates
			sum += math.Exp(v[j])
		}
	}
	logSum := math.Log(sum)
	for j := range v {
		v[j] -= logSum
	}
}

// Entropy returns −Σ p log p in nats for log-probabilities.
func Entropy(logProb []float64) float64 {
	var h float64
	for _, l := range logProb {
		if p := math.Exp(l); p > 0 {
			h -= p * l
		}
	}
	return max(h, 0)
}
