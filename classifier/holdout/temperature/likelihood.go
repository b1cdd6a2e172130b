package temperature

import "math"

// The grid of log T.
const (
	gridFirst = -3.0
	gridStep  = 0.125
	gridSize  = 73
	gridOne   = 24 // where log T is 0
)

// eceBins is the number of bins of the expected calibration error.
const eceBins = 15

// A bin sums examples, those that are named correctly, and confidences.
type bin struct{ n, right, confidence float64 }

// A Likelihood accumulates the negative log-likelihood of held-out examples at
// every T of a grid, and what else Minimum needs. The zero value is empty.
type Likelihood struct {
	n   float64
	nll [gridSize]float64
	// bins hold the examples by the probability of the winning class at every T.
	bins [gridSize][eceBins]bin
	// rivals sums, at every T, the mean negative log-probability of the other
	// classes minus that of the own one.
	rivals [gridSize]float64
}

// Len returns the number of examples.
func (l *Likelihood) Len() int { return int(l.n) }

// Add adds an example of the class in column own, whose log-probabilities a
// head gave.
func (l *Likelihood) Add(logProb []float64, own int) {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range logProb {
		largest, sum = max(largest, v), sum+v
	}
	l.n++
	var lead float64 // of the own class over the mean of the others
	if C := float64(len(logProb)); C > 1 {
		lead = logProb[own] - (sum-logProb[own])/(C-1)
	}
	for g := range l.nll {
		perT := math.Exp(-gridFirst - gridStep*float64(g))
		var sum float64
		for _, v := range logProb {
			if z := (v - largest) * perT; z > -40 { // smaller terms do not change the last bit
				sum += math.Exp(z)
			}
		}
		l.nll[g] += math.Log(sum) - (logProb[own]-largest)*perT
		b := &l.bins[g][min(eceBins-1, int(eceBins/sum))]
		b.n++
		b.confidence += 1 / sum
		if logProb[own] == largest {
			b.right++
		}
		l.rivals[g] += lead * perT
	}
}

// Merge adds the examples of another Likelihood.
func (l *Likelihood) Merge(other *Likelihood) {
	l.n += other.n
	for g := range l.nll {
		l.nll[g] += other.nll[g]
		l.rivals[g] += other.rivals[g]
		for i, b := range other.bins[g] {
			own := &l.bins[g][i]
			own.n, own.right, own.confidence = own.n+b.n, own.right+b.right, own.confidence+b.confidence
		}
	}
}

// ece returns the expected calibration error at a point of the grid.
func (l *Likelihood) ece(g int) float64 {
	var sum float64
	for _, b := range l.bins[g] {
		sum += math.Abs(b.right - b.confidence)
	}
	return sum / max(l.n, 1)
}

// Mixed returns a mixture of two kinds of examples in which the second, pooled,
// has the given weight, and the first the rest. A kind without examples leaves
// all of the weight to the other.
func Mixed(first, second *Likelihood, weight float64) Likelihood {
	if first.n == 0 {
		weight = 1
	}
	if second.n == 0 {
		weight = 0
	}
	n := first.n + second.n
	out := first.scaled((1 - weight) * n / max(first.n, 1))
	other := second.scaled(weight * n / max(second.n, 1))
	out.Merge(&other)
	return out
}

func (l *Likelihood) scaled(by float64) Likelihood {
	out := Likelihood{n: l.n * by}
	for g := range l.nll {
		out.nll[g], out.rivals[g] = l.nll[g]*by, l.rivals[g]*by
		for i, b := range l.bins[g] {
			out.bins[g][i] = bin{b.n * by, b.right * by, b.confidence * by}
		}
	}
	return out
}

// Minimum returns the T with the lowest mean negative log-likelihood: a
// parabola goes through the lowest point of the grid and its neighbours. The
// labels of n examples count as right with probability 1 − 1/(n+2) only, the
// rest being spread over the other classes, so that a few examples that are all
// named correctly do not make a head certain (Platt 1999, "Probabilistic Outputs
// for Support Vector Machines", section 2.2). Without a finite likelihood T
// stays 1.
func (l *Likelihood) Minimum() *Value {
	best, shift, curve := l.lowest()
	found := &Value{Before: l.nll[gridOne] / max(l.n, 1), After: l.nll[best] / max(l.n, 1)}
	if math.IsNaN(found.Before+found.After) || math.IsInf(found.Before+found.After, 0) {
		return &Value{T: 1, Fallback: "the held-out examples have no finite likelihood"}
	}
	found.After -= curve * shift * shift / 2
	found.T, found.ECE = math.Exp(gridFirst+gridStep*(float64(best)+shift)), l.ece(best)
	return found
}

// Loss returns the lowest value of what Minimum minimises, the likelihood with labels
// that count as right with probability 1 − 1/(n+2) only. It changes smoothly with the
// answers even where all examples are named correctly, to compare heads by.
func (l *Likelihood) Loss() float64 {
	best, shift, curve := l.lowest()
	return l.loss(best) - curve*shift*shift/2
}

// loss returns what Minimum minimises, at a point of the grid.
func (l *Likelihood) loss(g int) float64 {
	return (l.nll[g] + l.rivals[g]/(l.n+2)) / max(l.n, 1)
}

// lowest returns the point of the grid with the lowest loss, how far the minimum of a
// parabola through it and its neighbours is from it, and the curvature of that.
func (l *Likelihood) lowest() (best int, shift, curve float64) {
	best = gridOne
	for g := range l.nll {
		if l.loss(g) < l.loss(best) {
			best = g
		}
	}
	if best == 0 || best == gridSize-1 {
		return best, 0, 0
	}
	left, right := l.loss(best-1)-l.loss(best), l.loss(best+1)-l.loss(best)
	if curve = left + right; !(curve > 0) || math.IsInf(curve, 0) {
		return best, 0, 0
	}
	return best, (left - right) / (2 * curve), curve
}
