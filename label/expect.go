package label

import (
	"math"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

// An Expectation is the share of the labels of a folder that is right: the mean of their
// probabilities. Unlike the accuracy that training announces, it knows the photos that it
// speaks about.
type Expectation struct {
	// Accuracy is the share, 0 to 1, and Low and High where it lies in 19 of 20 folders.
	Accuracy number `json:"accuracy"`
	Low      number `json:"low"`
	High     number `json:"high"`
	// Labels is the number of labels, without the photos that were rejected.
	Labels int `json:"labels"`
}

// elsewhere is the standard error of a mean of calibrated probabilities over a folder of
// another occasion: the root mean square of 22 folders (docs/results/promises.md).
const elsewhere = 0.05

// hopes sums the probabilities of labels.
type hopes struct {
	held          calibration.Calibration
	n             int
	sum, variance float64 // of p, of p(1−p)
}

func (h *hopes) add(row Scored) {
	if row.Rejected {
		return
	}
	p := row.Prediction.Probability
	h.n++
	h.sum += p
	h.variance += p * (1 - p)
}

// expectation returns nil if the probabilities were not fitted to held-out examples.
func (h *hopes) expectation() *Expectation {
	if h.n == 0 || h.held.Samples == 0 || h.held.Source == calibration.Simulated {
		return nil
	}
	n, mean := float64(h.n), h.sum/float64(h.n)
	a := h.held.Accuracy
	if h.held.Elsewhere > 0 {
		a = h.held.Elsewhere
	}
	// The labels are right by chance, T was fitted to so many examples, and the folder is
	// another one than these.
	spread := math.Sqrt(h.variance/n/n + a*(1-a)/float64(h.held.Samples) + elsewhere*elsewhere)
	return &Expectation{
		Accuracy: number(mean), Low: number(max(0, mean-1.96*spread)), High: number(min(1, mean+1.96*spread)),
		Labels: h.n,
	}
}
