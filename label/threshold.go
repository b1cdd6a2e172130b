package label

import "math"

// A Threshold is the novelty above which a row is rejected as unknown. The zero value rejects
// nothing.
type Threshold struct {
	novelty float64
	rejects bool
}

// Above returns the Threshold that rejects what is more novel, nothing for +Inf and NaN.
func Above(novelty float64) Threshold { return Threshold{novelty, true} }

// Novelty returns that above which a row is rejected, +Inf if none is.
func (t Threshold) Novelty() float64 {
	if !t.rejects || math.IsNaN(t.novelty) {
		return math.Inf(1)
	}
	return t.novelty
}
