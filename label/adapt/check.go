package adapt

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// temperRows is the number of photos that the temperature is raised on.
	temperRows = 2000
	// mostRaised is the factor by which it is raised at most.
	mostRaised = 1e3
)

// check undoes adapting to x (n×d) if photos of the same name are less alike, and
// otherwise tempers the adapted model.
func (h *Head) check(ctx context.Context, x blas32.General) error {
	before, err := h.alike(ctx, h.Predictor, x)
	if err != nil {
		return err
	}
	after, err := h.alike(ctx, h.adapted, x)
	if err != nil {
		return err
	}
	if after < before {
		h.adapted, h.Moved, h.Undone = h.Predictor, 0, true
		return nil
	}
	return h.temper(dense.Rows32(x, 0, min(x.Rows, temperRows)))
}

// alike returns Σ x_i·x̄_{−i} by the names that a model gives, 0 for a photo that
// alone has its name.
func (h *Head) alike(ctx context.Context, m *model.Predictor, x blas32.General) (float64, error) {
	classes := len(h.Classes())
	n, squares := make([]float64, classes), make([]float64, classes)
	var sums blas64.General
	for first := 0; first < x.Rows; first += blockRows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		block := dense.Rows32(x, first, min(first+blockRows, x.Rows))
		rows, err := h.placed(block)
		if err != nil {
			return 0, err
		}
		logProb := dense.New(block.Rows, classes)
		if err := m.Score(logProb, nil, block); err != nil {
			return 0, err
		}
		if first == 0 {
			sums = dense.New(classes, rows.Cols)
		}
		for i := range rows.Rows {
			c, row := floats.MaxIdx(dense.Row(logProb, i)), dense.Row(rows, i)
			n[c]++
			squares[c] += dense.SumSquares(row)
			floats.Add(dense.Row(sums, c), row)
		}
	}
	mean := make([]float64, sums.Cols) // of all photos
	for c := range n {
		floats.AddScaled(mean, 1/float64(x.Rows), dense.Row(sums, c))
	}
	var total float64
	for c, n := range n {
		if n < 2 {
			continue
		}
		// Σ|x−m|² and |Σ(x−m)|² of the class, m the mean of all photos.
		sum := dense.Row(sums, c)
		own := squares[c] - 2*dense.Dot(sum, mean) + n*dense.SumSquares(mean)
		floats.AddScaled(sum, -n, mean)
		total += (dense.SumSquares(sum) - own) / (n - 1)
	}
	return total, nil
}

// temper raises the temperature of the adapted model until its mean largest
// probability of the photos x (n×d) is at most that of the trained model.
func (h *Head) temper(x blas32.General) error {
	trained, adapted := *h.Predictor, *h.adapted
	trained.OldShare, adapted.OldShare = 0, 0
	logProb := dense.New(x.Rows, len(h.Classes()))
	if err := trained.Score(logProb, nil, x); err != nil {
		return err
	}
	most := sureness(logProb, 1)
	if err := adapted.Score(logProb, nil, x); err != nil {
		return err
	}
	if sureness(logProb, 1) <= most {
		return nil
	}
	low, high := 1.0, mostRaised
	for range 30 {
		if by := math.Sqrt(low * high); sureness(logProb, by) > most {
			low = by
		} else {
			high = by
		}
	}
	value := temperature.Value{T: 1}
	if h.Temperature != nil {
		value = *h.Temperature
	}
	value.T *= high
	h.adapted.Temperature = &value
	return nil
}

// sureness returns the mean largest probability if log-probabilities are divided by
// a temperature.
func sureness(logProb blas64.General, by float64) float64 {
	largest := make([]float64, logProb.Rows)
	dense.Parallel(logProb.Rows, func(i int) {
		row := slices.Clone(dense.Row(logProb, i))
		floats.Scale(1/by, row)
		largest[i] = math.Exp(floats.Max(row) - classifier.LogSumExp(row))
	})
	return floats.Sum(largest) / float64(len(largest))
}
