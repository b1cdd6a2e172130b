package logistic

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

const (
	historyLength = 10
	armijo        = 1e-4
	maxHalvings   = 30
)

// A Loss returns the loss of weights and its gradient, which the caller may
// keep.
type Loss func(ctx context.Context, w []float64) (loss float64, gradient []float64, err error)

// Decayed adds λ/2·|w|² to a loss, without the constants, the last of every d+1
// weights.
func (f Loss) Decayed(lambda float64, d int) Loss {
	return func(ctx context.Context, w []float64) (float64, []float64, error) {
		loss, gradient, err := f(ctx, w)
		if err != nil {
			return 0, nil, err
		}
		for i, v := range w {
			if i%(d+1) < d {
				gradient[i] += lambda * v
				loss += lambda * v * v / 2
			}
		}
		return loss, gradient, nil
	}
}

// Minimize returns n weights after so many steps from zero, or fewer if no step
// lowers the loss any more.
func (f Loss) Minimize(ctx context.Context, n, steps int) ([]float64, error) {
	w := make([]float64, n)
	loss, gradient, err := f(ctx, w)
	var history []pair
	for step := 0; err == nil && step < steps; step++ {
		direction := descent(gradient, history)
		slope := dense.Dot(direction, gradient)
		length := 1.0
		if step == 0 {
			length = 1 / math.Max(math.Sqrt(dense.Dot(gradient, gradient)), 1e-12)
		}
		var next, nextGradient []float64
		var nextLoss float64
		found := false
		for range maxHalvings {
			next = added(w, length, direction)
			if nextLoss, nextGradient, err = f(ctx, next); err != nil {
				return nil, err
			}
			if found = nextLoss <= loss+armijo*length*slope; found {
				break
			}
			length /= 2
		}
		if !found {
			break
		}
		history = remembered(history, added(next, -1, w), added(nextGradient, -1, gradient))
		w, loss, gradient = next, nextLoss, nextGradient
	}
	return w, err
}

// A pair is a step and the change of the gradient over it.
type pair struct {
	s, y []float64
	rho  float64
}

func remembered(history []pair, s, y []float64) []pair {
	sy := dense.Dot(s, y)
	if !(sy > 1e-10*dense.Dot(y, y)) {
		return history
	}
	history = append(history, pair{s, y, 1 / sy})
	return history[max(0, len(history)-historyLength):]
}

// descent is the two-loop recursion of L-BFGS.
func descent(gradient []float64, history []pair) []float64 {
	r := slices.Clone(gradient)
	alpha := make([]float64, len(history))
	for i, p := range slices.Backward(history) {
		alpha[i] = p.rho * dense.Dot(p.s, r)
		r = added(r, -alpha[i], p.y)
	}
	if n := len(history); n > 0 {
		p := history[n-1]
		blas64.Scal(1/(p.rho*dense.Dot(p.y, p.y)), dense.Vector(r))
	}
	for i, p := range history {
		r = added(r, alpha[i]-p.rho*dense.Dot(p.y, r), p.s)
	}
	blas64.Scal(-1, dense.Vector(r))
	return r
}

// added returns a + by·b.
func added(a []float64, by float64, b []float64) []float64 {
	out := slices.Clone(a)
	blas64.Axpy(by, dense.Vector(b), dense.Vector(out))
	return out
}
