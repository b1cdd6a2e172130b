package gauss

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
)

// OneShot learns a class from each row of first (C×d) with the prior, and scores row i
// of second, another example of class i. Both have rows of length 1. O(d³ + Cd² + C²d).
func (p *Prior) OneShot(backend linalg.Backend, first, second blas64.General, epsilon float64) (Trial, error) {
	t := Trial{Epsilon: epsilon}
	b := &Basis{means: first, within: dense.New(first.Cols, first.Cols), solver: linalg.Solver{Backend: backend}}
	for i := range first.Rows {
		b.totals = append(b.totals, moments.Total{N: 1, Sum: dense.Row(first, i)})
	}
	b, err := b.With(p, defaultWeight)
	if err != nil {
		return t, err
	}
	sp, err := b.Space(epsilon)
	if err != nil {
		return t, err
	}
	white, err := sp.Means(b.totals)
	if err != nil {
		return t, err
	}
	classes := make([]Class, first.Rows)
	for i := range classes {
		classes[i] = Class{N: 1, Mean: dense.Row(white, i), Noise: 1}
	}
	densities, err := sp.Densities(classes)
	if err != nil {
		return t, err
	}
	if white, err = sp.Whitened(dense.Clone(second)); err != nil {
		return t, err
	}
	scores, err := sp.Stack(densities).LogDensities(white)
	if err != nil {
		return t, err
	}
	var likelihood temperature.Likelihood
	for i := range second.Rows {
		likelihood.Add(dense.Row(scores, i), i)
		if floats.MaxIdx(dense.Row(scores, i)) == i {
			t.Accuracy += 1 / float64(second.Rows)
		}
	}
	t.NLL = likelihood.Loss()
	return t, nil
}
