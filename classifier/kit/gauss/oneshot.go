package gauss

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// OneShot learns a class from each row of first (C×d) with the prior, and scores row i
// of second, another example of class i. Both have rows of length 1. O(d³ + Cd² + C²d).
func (p *Prior) OneShot(backend linalg.Backend, first, second blas64.General, epsilon float64) (Trial, error) {
	b := &Basis{means: first, within: dense.New(first.Cols, first.Cols), solver: linalg.Solver{Backend: backend}}
	for i := range first.Rows {
		b.totals = append(b.totals, moments.Total{N: 1, Sum: dense.Row(first, i)})
	}
	b, err := b.With(p, defaultWeight)
	if err != nil {
		return Trial{}, err
	}
	sp, err := b.Space(epsilon)
	if err != nil {
		return Trial{}, err
	}
	densities, err := sp.Pooled(b.totals)
	if err != nil {
		return Trial{}, err
	}
	white, err := sp.Whitened(dense.Clone(second))
	if err != nil {
		return Trial{}, err
	}
	scores, err := sp.Stack(densities).LogDensities(white)
	if err != nil {
		return Trial{}, err
	}
	return trialOf(epsilon, second.Rows, func(i int) ([]float64, int) { return dense.Row(scores, i), i }), nil
}
