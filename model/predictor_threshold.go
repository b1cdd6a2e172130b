package model

import (
	"math"
	"slices"
)

// Threshold returns the novelty that a share p of images of known classes
// exceeds, for the current classes; see calibration.Novelty.
func (m *Model) Threshold(p float64) (float64, error) {
	return m.Predictor.Calibration.Threshold(p, m.fewShare())
}

// fewShare returns the share of classes learned from a few samples, if
// pseudo-sessions made a difference between them and others. A class added
// after the base session counts partially, on a logarithmic scale, if it has
// more than Shots samples but fewer than base classes do.
func (m *Model) fewShare() float64 {
	shots := m.Predictor.Calibration.Shots
	if shots < 1 || len(m.Classes()) == 0 {
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
	middle := len(base) / 2
	many, few := (base[middle]+base[(len(base)-1)/2])/2, float64(shots)
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
