// Package labelnoise tells how many of some labels are wrong, and how probably each is.
//
// A model that has not learned an example gives its class y the probability p(y|x). If a
// share ε of the labels is wrong, each other class being as likely, the label is y with
//
//	(1−ε) p(y|x) + ε (1−p(y|x))/(C−1)
//
// and ε is the one that makes the labels of all examples most probable. Hard photos do not
// count as wrong labels: that the model finds them hard is in p. Where labels are wrong, the
// temperature that was fitted to them is too high, so that p is sharpened by an exponent β,
// fitted with ε: without β half of the wrong labels are missed (docs/results/promises.md).
package labelnoise

import (
	"math"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// The grid of log β.
	first, step, size = -1.2, 0.2, 15
	// mostRows bounds the examples that the fit looks at; of more, an even selection is.
	mostRows = 20_000
	// least is the smallest probability of a label: a model is never that sure.
	least = 1e-12
	// none is the share below which there are no wrong labels.
	none = 1e-6
)

// Labels are given classes and what models that have not learned them say of these.
type Labels struct {
	classes int
	own     [][size]float32 // p(y|x) at every β
}

// Add adds a label: the class in column given, and the log-probabilities of all classes.
func (l *Labels) Add(logProb []float64, given int) {
	l.classes = max(l.classes, len(logProb))
	l.own = append(l.own, sharpened(logProb, given))
}

// Len returns the number of labels.
func (l *Labels) Len() int { return len(l.own) }

func sharpened(logProb []float64, given int) (out [size]float32) {
	for k := range out {
		out[k] = float32(at(logProb, given, beta(k)))
	}
	return out
}

func beta(k int) float64 { return math.Exp(first + step*float64(k)) }

// at returns the probability of a class at an exponent.
func at(logProb []float64, given int, beta float64) float64 {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range logProb {
		largest = max(largest, v)
	}
	for _, v := range logProb {
		sum += math.Exp(beta * (v - largest))
	}
	return math.Exp(beta*(logProb[given]-largest)) / sum
}

// A Noise is what labels tell. The zero value knows of no wrong ones.
type Noise struct {
	// Share of the labels is wrong, Sharpness is β.
	Share, Sharpness float64
	classes          int
	grid             int // of Sharpness
}

// Fit returns the share of wrong labels. Cost: the labels × 15 exponents × some fifty steps
// of expectation maximisation.
func (l *Labels) Fit() Noise {
	if len(l.own) == 0 || l.classes < 2 {
		return Noise{}
	}
	stride := (len(l.own) + mostRows - 1) / mostRows
	found := make([]Noise, size)
	fits := make([]float64, size)
	dense.Parallel(size, func(k int) {
		found[k] = Noise{Sharpness: beta(k), classes: l.classes, grid: k}
		found[k].Share, fits[k] = l.share(k, stride)
	})
	best := 0
	for k, fit := range fits {
		if fit > fits[best] {
			best = k
		}
	}
	return found[best]
}

// share returns the most likely share at one β, and its log-likelihood.
func (l *Labels) share(k, stride int) (share, fit float64) {
	share = 0.02
	n := float64((len(l.own) + stride - 1) / stride)
	for range 300 {
		sum := 0.0
		for i := 0; i < len(l.own); i += stride {
			sum += wrong(share, float64(l.own[i][k]), l.classes)
		}
		next := max(sum/n, none)
		if math.Abs(next-share) < 1e-3*none {
			break
		}
		share = next
	}
	for i := 0; i < len(l.own); i += stride {
		p := max(float64(l.own[i][k]), least)
		fit += math.Log((1-share)*p + share*(1-p)/float64(l.classes-1))
	}
	return share, fit
}

// wrong is the probability that a label of probability p is wrong.
func wrong(share, p float64, classes int) float64 {
	p = max(p, least)
	other := share * (1 - p) / float64(classes-1)
	return other / (other + (1-share)*p)
}

// Wrong returns how probably label i is wrong, in the order in which they were added.
func (l *Labels) Wrong(n Noise, i int) float64 {
	if n.classes < 2 {
		return 0
	}
	return wrong(n.Share, float64(l.own[i][n.grid]), n.classes)
}

// Wrong returns how probably a label is wrong that the fit did not look at.
func (n Noise) Wrong(logProb []float64, given int) float64 {
	if n.classes < 2 {
		return 0
	}
	return wrong(n.Share, at(logProb, given, n.Sharpness), n.classes)
}
