package gpr

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	// defaultTemperature is τ if there is nothing to fit it on.
	defaultTemperature = 0.25
	// coldest and hottest bound τ, so that perfectly separated classes do not
	// make every later probability 0 or 1.
	coldest, hottest = 0.02, 20
	// halvings leave a relative uncertainty of 1e−10.
	halvings = 36
	// fitRows is the number of rows that one goroutine sums.
	fitRows = 64
)

// fitTemperature returns the τ with the smallest negative log-likelihood of
// log-softmax(loo/τ) at the true classes. This is convex in β = 1/τ: the root
// of its derivative is found by bisection.
func fitTemperature(ctx context.Context, loo blas64.General, own []int) (float64, error) {
	if len(own) == 0 || loo.Cols < 2 {
		return defaultTemperature, nil
	}
	low, high := math.Log(1.0/hottest), math.Log(1/coldest)
	for range halvings {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if middle := (low + high) / 2; slope(loo, own, math.Exp(middle)) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(-(low + high) / 2), nil
}

// slope returns the derivative of the negative log-likelihood with respect to
// β, Σ (E_p[μ] − μ_own).
func slope(loo blas64.General, own []int, beta float64) float64 {
	parts := make([]float64, (len(own)+fitRows-1)/fitRows)
	dense.Parallel(len(parts), func(task int) {
		for i := task * fitRows; i < min((task+1)*fitRows, len(own)); i++ {
			parts[task] += expected(dense.Row(loo, i), beta) - dense.Row(loo, i)[own[i]]
		}
	})
	var sum float64
	for _, p := range parts {
		sum += p
	}
	return sum
}

// expected returns the mean of mu under softmax(β·mu).
func expected(mu []float64, beta float64) float64 {
	largest := slices.Max(mu)
	var sum, weighted float64
	for _, v := range mu {
		if e := beta * (v - largest); e > -40 {
			p := math.Exp(e)
			sum += p
			weighted += p * (v - largest)
		}
	}
	return largest + weighted/sum
}
