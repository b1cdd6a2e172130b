package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/episodes"
)

// calibrationQuantiles is the number of quantiles kept.
const calibrationQuantiles = 1001

// A Calibration holds the novelty of samples of known classes that the head has
// not seen, from episodes inside the base session (package episodes): of classes
// learned from most of their samples, and of classes learned later from a few.
// Where the base session is too small for that, it holds the former only, from
// five-fold cross-validation. Every fit is that of a fresh head with the same
// settings.
type Calibration struct {
	// Samples is the number of held-out samples behind the quantiles.
	Samples int
	// Quantiles are those of order 0, 0.001, …, 1; nil when there are none.
	Quantiles []float64
	// Few are the quantiles of classes learned from Shots samples; nil when
	// there are none.
	Few   []float64
	Shots int
	// Reason says why there are no quantiles.
	Reason string
}

// Threshold returns the novelty that a share p of known-class samples exceeds,
// where a share few of the classes was learned from a few samples and all
// classes are equally frequent; p = 0 gives +Inf, rejecting nothing. The error
// says why there is no calibration, or that p is not in [0, 1).
func (c Calibration) Threshold(p, few float64) (float64, error) {
	if !(p >= 0 && p < 1) {
		return 0, fmt.Errorf("rejection share %v: it must be at least 0 and less than 1", p)
	}
	if p == 0 {
		return math.Inf(1), nil
	}
	if len(c.Quantiles) != calibrationQuantiles {
		return 0, fmt.Errorf("no novelty threshold: %s", cmp.Or(c.Reason, "the model was not calibrated"))
	}
	if len(c.Few) != calibrationQuantiles || !(few > 0) {
		return quantile(c.Quantiles, 1-p), nil
	}
	return c.mixed(p, min(few, 1)), nil
}

// mixed halves the interval that holds the threshold until nothing lies between
// its ends.
func (c Calibration) mixed(p, few float64) float64 {
	last := calibrationQuantiles - 1
	low, high := min(c.Quantiles[0], c.Few[0]), max(c.Quantiles[last], c.Few[last])
	for {
		middle := low + (high-low)/2
		if !(low < middle && middle < high) {
			return high
		}
		if (1-few)*above(c.Quantiles, middle)+few*above(c.Few, middle) > p {
			low = middle
		} else {
			high = middle
		}
	}
}

// above is the share above v: quantile backwards.
func above(sorted []float64, v float64) float64 {
	i, _ := slices.BinarySearch(sorted, v) // sorted[i-1] < v <= sorted[i]
	switch {
	case i == 0:
		return 1
	case i == len(sorted):
		return 0
	}
	at := float64(i-1) + (v-sorted[i-1])/(sorted[i]-sorted[i-1])
	return 1 - at/float64(len(sorted)-1)
}

// Threshold is Calibration.Threshold for the classes that the model has now.
func (m *Model) Threshold(p float64) (float64, error) {
	return m.Calibration.Threshold(p, m.fewShare())
}

// fewShare is the share of classes that were learned from a few samples. One
// that came after the base session counts in part, on a logarithmic scale, when
// it has more than Shots samples but fewer than base classes do.
func (m *Model) fewShare() float64 {
	if m.Calibration.Shots < 1 || len(m.Classes()) == 0 {
		return 0
	}
	sizes := m.ClassSizes()
	var base []float64
	for _, c := range sizes {
		if c.Session == 0 {
			base = append(base, float64(c.Samples))
		}
	}
	if len(base) == 0 {
		return 1
	}
	slices.Sort(base)
	many, few := quantile(base, 0.5), float64(m.Calibration.Shots)
	var sum float64
	for _, c := range sizes {
		if c.Session > 0 {
			sum += between(float64(c.Samples), few, many)
		}
	}
	return sum / float64(len(sizes))
}

// between is 1 up to few samples and 0 from many on.
func between(n, few, many float64) float64 {
	switch {
	case n <= few:
		return 1
	case n >= many:
		return 0
	}
	return math.Log(many/n) / math.Log(many/few)
}

// quantile interpolates linearly between order statistics (Hyndman and Fan's
// type 7, numpy's default).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// quantiles returns those of order 0, 0.001, …, 1.
func quantiles(held []float64) []float64 {
	slices.Sort(held)
	out := make([]float64, calibrationQuantiles)
	for i := range out {
		out[i] = quantile(held, float64(i)/(calibrationQuantiles-1))
	}
	slices.Sort(out) // interpolation may break ties by a last bit
	return out
}

// calibrate fails only when ctx does: what else prevents a calibration becomes
// its Reason.
func calibrate(ctx context.Context, p *Predictor, b Batch, seed uint64) (Calibration, error) {
	var c Calibration
	z, err := p.project(b.X)
	if err == nil {
		c, err = episodeNovelty(ctx, p.unfitted, b, z, seed)
	}
	var little *episodes.TooLittleError
	if errors.As(err, &little) {
		b.X = z
		var held []float64
		if held, err = heldOutNovelty(ctx, p.unfitted, b, seed); err == nil {
			c = Calibration{Samples: len(held), Quantiles: quantiles(held)}
		}
	}
	if ctx.Err() != nil {
		return Calibration{}, ctx.Err()
	}
	if err != nil {
		return Calibration{Reason: err.Error()}, nil
	}
	return c, nil
}
