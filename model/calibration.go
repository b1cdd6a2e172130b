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

// calibrationQuantiles is the number of quantiles stored.
const calibrationQuantiles = 1001

// A Calibration holds the novelty of held-out samples of known classes, from
// episodes inside the base session (package episodes): for classes learned from
// most of their samples, and for classes learned later from a few. If the base
// session is too small for that, it holds the former only, from five-fold
// cross-validation. Every fit uses a fresh head with the same settings.
type Calibration struct {
	// Samples is the number of held-out samples behind the quantiles.
	Samples int
	// Quantiles are of order 0, 0.001, …, 1; nil if there are none.
	Quantiles []float64
	// Few are the quantiles for classes learned from Shots samples; nil if
	// there are none.
	Few   []float64
	Shots int
	// Reason is why there are no quantiles.
	Reason string
}

// Threshold returns the novelty that a share p of known-class samples exceeds,
// given that a share few of the classes was learned from a few samples and all
// classes are equally frequent; p = 0 gives +Inf, which rejects nothing. It
// fails if there is no calibration or p is not in [0, 1).
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

// mixed finds the threshold by bisection, to the last bit.
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

// above returns the share above v, the inverse of quantile.
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

// Threshold returns Calibration.Threshold for the current classes.
func (m *Model) Threshold(p float64) (float64, error) {
	return m.Calibration.Threshold(p, m.fewShare())
}

// fewShare returns the share of classes learned from a few samples. A class
// added after the base session counts partially, on a logarithmic scale, if it
// has more than Shots samples but fewer than base classes do.
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

// between falls from 1 at few samples to 0 at many.
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

// quantiles returns the quantiles of order 0, 0.001, …, 1.
func quantiles(held []float64) []float64 {
	slices.Sort(held)
	out := make([]float64, calibrationQuantiles)
	for i := range out {
		out[i] = quantile(held, float64(i)/(calibrationQuantiles-1))
	}
	slices.Sort(out) // interpolation may perturb ties in the last bit
	return out
}

// calibrate fails only if ctx is cancelled; anything else that prevents a
// calibration becomes its Reason.
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
