package adapt

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// temperRows is the number of photos that the temperature is raised on.
	temperRows = 2000
	// mostRaised is the factor by which it is raised at most.
	mostRaised = 1e3
)

// check undoes adapting to images, which adapted has as the adapted model scores them, if photos of the
// same name are less alike, and otherwise tempers the adapted model.
func (h *Head) check(ctx context.Context, all images, adapted *label.Kept) error {
	before, err := h.alike(ctx, h.Predictor, all, all.kept)
	if err != nil {
		return err
	}
	after, err := h.alike(ctx, h.adapted, all, adapted)
	if err != nil {
		return err
	}
	if after < before {
		h.adapted, h.Moved, h.Undone = h.Predictor, 0, true
		return nil
	}
	return h.temper(all, adapted)
}

// alike returns Σ x_i·x̄_{−i} by the names that a model gives, by its scores, 0 for a photo that
// alone has its name.
func (h *Head) alike(ctx context.Context, m *model.Predictor, all images, scored *label.Kept) (float64, error) {
	classes := len(h.Classes())
	n, squares := make([]float64, classes), make([]float64, classes)
	var sums blas64.General
	err := all.blocks(ctx, func(at []int, x blas32.General) error {
		rows, err := h.placed(x)
		if err != nil {
			return err
		}
		logProb, _, err := scored.Scores(at)
		if err != nil {
			return err
		}
		m.Temper(logProb)
		if sums.Data == nil {
			sums = dense.New(classes, rows.Cols)
		}
		for i := range rows.Rows {
			c, row := floats.MaxIdx(dense.Row(logProb, i)), dense.Row(rows, i)
			n[c]++
			squares[c] += dense.SumSquares(row)
			floats.Add(dense.Row(sums, c), row)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	mean := make([]float64, sums.Cols) // of all photos
	for c := range n {
		floats.AddScaled(mean, 1/float64(len(all.rows)), dense.Row(sums, c))
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

// temper raises the temperature of the adapted model until it is as sure of the first images on average as
// the trained model is.
func (h *Head) temper(all images, adapted *label.Kept) error {
	rows := all.rows[:min(len(all.rows), temperRows)]
	trained, _, err := all.kept.Scores(rows)
	if err != nil {
		return err
	}
	even(h.Predictor).Temper(trained)
	most := sureness(trained, labels(trained), 1)
	logProb, _, err := adapted.Scores(rows)
	if err != nil {
		return err
	}
	even(h.adapted).Temper(logProb)
	by := raised(logProb, labels(logProb), most)
	if by == 1 {
		return nil
	}
	value := temperature.Value{T: 1}
	if h.Temperature != nil {
		value = *h.Temperature
	}
	value.T *= by
	h.adapted.Temperature = &value
	return nil
}

// labels returns the most probable class of each row.
func labels(logProb blas64.General) []int {
	out := make([]int, logProb.Rows)
	for i := range out {
		out[i] = floats.MaxIdx(dense.Row(logProb, i))
	}
	return out
}

// sureness returns the mean probability of a class of each row if log-probabilities are divided by a
// temperature.
func sureness(logProb blas64.General, class []int, by float64) float64 {
	p := make([]float64, logProb.Rows)
	dense.Parallel(logProb.Rows, func(i int) {
		row := slices.Clone(dense.Row(logProb, i))
		floats.Scale(1/by, row)
		p[i] = math.Exp(row[class[i]] - classifier.LogSumExp(row))
	})
	return stat.Mean(p, nil)
}

// raised returns a temperature, 1 or more, at which the mean probability of a class of each row is at most
// most.
func raised(logProb blas64.General, class []int, most float64) float64 {
	if sureness(logProb, class, 1) <= most {
		return 1
	}
	low, high := 1.0, mostRaised
	for range 30 {
		if by := math.Sqrt(low * high); sureness(logProb, class, by) > most {
			low = by
		} else {
			high = by
		}
	}
	return high
}
