package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Quantiles is the number of quantiles of the novelty.
const Quantiles = 1001

// minNovelty is the minimum number of held-out examples for a threshold: with
// fewer, 5 % is less than one example.
const minNovelty = 20

// A Novelty is the distribution of the novelty of held-out examples of known
// classes.
type Novelty struct {
	// Quantiles are of order 0, 0.001, …, 1; nil if there are none.
	Quantiles []float64 `json:"-"`
	// Few are the quantiles for classes learned from Shots examples; nil if
	// there are none.
	Few   []float64 `json:"-"`
	Shots int       `json:"shots,omitempty"`
	// Other are those with groups of like examples held out whole, as photos of another
	// occasion; nil unless there is a Calibration.Elsewhere.
	Other []float64 `json:"-"`
	// Unseen tells how probable it is that an example is of no class that was learned; nil
	// if there was too little to fit it to.
	Unseen *Unseen `json:"new,omitempty"`
	// Reason is why there are no quantiles.
	Reason string `json:"reason,omitempty"`
}

// noveltyOf returns the distribution of the given values, which count as much as their
// weights; equally if these are nil.
func noveltyOf(held, weights []float64) Novelty {
	switch i := slices.IndexFunc(held, notFinite); {
	case i >= 0:
		return Novelty{Reason: fmt.Sprintf("a held-out example has novelty %v", held[i])}
	case len(held) < minNovelty:
		return Novelty{Reason: fmt.Sprintf("a threshold needs at least %d images in classes of two or more, there are "+
			"%d", minNovelty, len(held))}
	}
	return Novelty{Quantiles: quantiles(held, weights)}
}

// Check returns an error unless the quantiles are complete.
func (n Novelty) Check() error {
	for _, q := range [][]float64{n.Quantiles, n.Few, n.Other} {
		if q != nil && (len(q) != Quantiles || !slices.IsSorted(q) || slices.ContainsFunc(q, notFinite)) {
			return fmt.Errorf("%d quantiles, or not ascending finite numbers", len(q))
		}
	}
	if n.Unseen != nil {
		if err := n.Unseen.Check(); err != nil {
			return err
		}
	}
	if (n.Few != nil) != (n.Shots > 0) || (n.Few != nil || n.Other != nil) && n.Quantiles == nil {
		return fmt.Errorf("%d shots do not match the quantiles present", n.Shots)
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Threshold returns the novelty that a share p of known-class examples exceeds,
// given that a share few of the classes was learned from a few examples and all
// classes are equally frequent; p = 0 gives +Inf, which rejects nothing. It
// fails if there are no quantiles or p is not in [0, 1).
func (n Novelty) Threshold(p, few float64) (float64, error) {
	if !(p >= 0 && p < 1) {
		return 0, fmt.Errorf("rejection share %v: it must be at least 0 and less than 1", p)
	}
	if p == 0 {
		return math.Inf(1), nil
	}
	if len(n.Quantiles) != Quantiles {
		return 0, fmt.Errorf("no novelty threshold: %s; learn more photos, or reject none (leave out --reject)",
			cmp.Or(n.Reason, "the model was not calibrated"))
	}
	if len(n.Few) != Quantiles || !(few > 0) {
		return quantile(n.Quantiles, 1-p), nil
	}
	return n.mixed(p, min(few, 1)), nil
}

// Elsewhere returns the share of known-class examples of another occasion that exceed a
// threshold; ok is false if nothing is known of them.
func (n Novelty) Elsewhere(threshold float64) (share float64, ok bool) {
	if len(n.Other) != Quantiles {
		return 0, false
	}
	return above(n.Other, threshold), true
}

// twoKinds reports whether there are quantiles of examples like those learned, and of others.
func (n Novelty) twoKinds() bool { return len(n.Quantiles) == Quantiles && len(n.Other) == Quantiles }

// mixed finds the threshold by bisection, to the last bit.
func (n Novelty) mixed(p, few float64) float64 {
	last := Quantiles - 1
	low, high := min(n.Quantiles[0], n.Few[0]), max(n.Quantiles[last], n.Few[last])
	for {
		middle := low + (high-low)/2
		if !(low < middle && middle < high) {
			return high
		}
		if (1-few)*above(n.Quantiles, middle)+few*above(n.Few, middle) > p {
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
func quantiles(held, weights []float64) []float64 {
	out := make([]float64, Quantiles)
	if slices.Equal(weights, slices.Repeat(weights[:min(1, len(weights))], len(weights))) {
		held = slices.Sorted(slices.Values(held))
		for i := range out {
			out[i] = quantile(held, float64(i)/(Quantiles-1))
		}
	} else {
		weighted(out, held, weights)
	}
	slices.Sort(out) // interpolation may perturb ties in the last bit
	return out
}

// weighted writes the quantiles of values with weights: a value lies at the middle of its
// weight in the sum of all, and the first and the last at the orders 0 and 1. With equal
// weights that is quantile.
func weighted(out, held, weights []float64) {
	order := make([]int, len(held))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(held[i], held[j]) })
	at, sum := make([]float64, len(order)), 0.0
	for k, i := range order {
		at[k] = sum + weights[i]/2
		sum += weights[i]
	}
	first, last := at[0], at[len(at)-1]
	k := 0
	for i := range out {
		q := first + (last-first)*float64(i)/float64(len(out)-1)
		for k+2 < len(at) && at[k+1] < q {
			k++
		}
		low, high := held[order[k]], held[order[k+1]]
		out[i] = low + (high-low)*min(max((q-at[k])/(at[k+1]-at[k]), 0), 1)
	}
}
