package aligned

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/logistic"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

const (
	// decay is λ·C: the weight of ½·|w|² for each class, relative to its mean
	// loss in nats.
	decay = 0.3
	// baseSteps and laterSteps are steps of L-BFGS.
	baseSteps  = 20
	laterSteps = 30
	// expected is ν, the number of examples that the predictive density of a base
	// class counts as next to its own examples.
	expected = 30
	// leastPoints is the least number of points that stand for a Gaussian.
	leastPoints = 512
)

// fitBase returns the rows of the base classes (C×(d+1)), in the order of s,
// from their examples and what their densities expect.
func fitBase(ctx context.Context, sp *gauss.Space, s *moments.Session, totals []moments.Total) (blas64.General, error) {
	C, d := len(totals), sp.Dim()
	e, err := newExpectation(sp, totals)
	if err != nil {
		return blas64.General{}, err
	}
	e.target, e.rows = dense.Range(0, C), C
	loss := e.loss
	if s.HasExamples() && logistic.Fits(s.X.Rows, d, C) {
		white, err := sp.Whitened(classifier.Placed(s.X, dense.Range(0, s.X.Rows), true))
		if err != nil {
			return white, err
		}
		y := make([]int, s.X.Rows)
		for c, examples := range s.Classes {
			for _, r := range examples.Rows {
				y[r] = c
			}
		}
		examples := logistic.NewRows(sp.Backend(), white, y, C)
		loss = mixed(examples.Loss, float64(s.X.Rows), e.loss, expected*float64(C))
	}
	w, err := logistic.Loss(loss).Decayed(decay/float64(C), d).Minimize(ctx, C*(d+1), baseSteps)
	if err != nil {
		return blas64.General{}, err
	}
	return blas64.General{Rows: C, Cols: d + 1, Stride: d + 1, Data: w}, nil
}

// mixed returns the mean of two losses with the given weights.
func mixed(a logistic.Loss, wa float64, b logistic.Loss, wb float64) logistic.Loss {
	return func(ctx context.Context, w []float64) (float64, []float64, error) {
		la, ga, err := a(ctx, w)
		if err != nil {
			return 0, nil, err
		}
		lb, gb, err := b(ctx, w)
		if err != nil {
			return 0, nil, err
		}
		for i, v := range gb {
			ga[i] = (wa*ga[i] + wb*v) / (wa + wb)
		}
		return (wa*la + wb*lb) / (wa + wb), ga, nil
	}
}

// fitLater returns the rows of the classes that are not base classes, with
// those of the base classes, in logits, fixed.
func fitLater(ctx context.Context, sp *gauss.Space, totals []moments.Total, base []bool, logits [][]float64) (blas64.General, error) {
	d := sp.Dim()
	var fixed blas64.General
	target, later := make([]int, len(totals)), 0
	for i, isBase := range base {
		if isBase {
			target[i] = -1
			fixed.Data = append(fixed.Data, logits[i]...)
			fixed.Rows, fixed.Cols, fixed.Stride = fixed.Rows+1, d+1, d+1
			continue
		}
		target[i] = later
		later++
	}
	out := dense.New(later, d+1)
	if later == 0 {
		return out, nil
	}
	e, err := newExpectation(sp, totals)
	if err != nil {
		return out, err
	}
	e.target, e.rows = target, later
	if fixed.Rows > 0 {
		if err := e.fix(ctx, fixed); err != nil {
			return out, err
		}
	}
	out.Data, err = logistic.Loss(e.loss).Decayed(decay/float64(len(totals)), d).Minimize(ctx, later*(d+1), laterSteps)
	return out, err
}

// points returns points with mean 0 and covariance I that stand for a standard
// normal distribution in d dimensions (m×d): a cosine basis with random signs,
// scaled to length √d, and its mirror image, as often as it takes.
func points(d int) blas64.General {
	times := (leastPoints + 2*d - 1) / (2 * d)
	out := dense.New(2*d*times, d)
	signs := make([]float64, d)
	for t := range times {
		rng := random.Stream(1, "aligned/points", t)
		for j := range signs {
			signs[j] = sign(rng)
		}
		for i := range d {
			scale := math.Sqrt2
			if i == 0 {
				scale = 1
			}
			plus, minus := dense.Row(out, 2*(t*d+i)), dense.Row(out, 2*(t*d+i)+1)
			for j := range d {
				// Reducing the angle first keeps the cosine exact for large i·j.
				plus[j] = signs[j] * scale * math.Cos(math.Pi*float64(i*(2*j+1)%(4*d))/float64(2*d))
				minus[j] = -plus[j]
			}
		}
	}
	return out
}

func sign(rng *rand.Rand) float64 {
	if rng.Uint64()&1 == 0 {
		return -1
	}
	return 1
}
