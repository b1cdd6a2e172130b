package metrics

import "math"

// A Bin is one bar of the reliability diagram.
type Bin struct {
	N int
	// Confidence is the mean highest probability, Accuracy the share that was
	// correct; both are 0 in an empty bin.
	Confidence, Accuracy float64
}

// fillReliability turns the sums into means, and gives ECE.
func (r *Report) fillReliability() {
	for i := range r.Reliability {
		if b := &r.Reliability[i]; b.N > 0 {
			r.ECE += math.Abs(b.Accuracy-b.Confidence) / float64(r.N)
			b.Confidence /= float64(b.N)
			b.Accuracy /= float64(b.N)
		}
	}
}

// newError is the expected calibration error of the probabilities of being new.
func (a *Accumulator) newError() (sum float64) {
	for b, p := range a.new {
		sum += math.Abs(p-a.was[b]) / float64(a.told)
	}
	return sum
}

// binOf returns b with b/Bins < p ≤ (b+1)/Bins, and 0 for p = 0.
func binOf(p float64) int {
	return min(max(int(math.Ceil(p*Bins))-1, 0), Bins-1)
}
