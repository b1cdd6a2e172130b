package calibration

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// Simulated second examples.
const (
	correlation = 1.0 / 3 // ρ of two photos of a class
	perExample  = 3       // simulated examples of each
	combined    = 32      // examples in a random combination
)

// simulated fits the temperature to simulated second examples.
func simulated(ctx context.Context, t Task) (*temperature.Value, Calibration, error) {
	head, err := t.Fresh()
	if err != nil {
		return nil, Calibration{}, err
	}
	for _, s := range t.Sessions {
		if err := head.Learn(ctx, s.X, s.Y); err != nil {
			return nil, Calibration{}, err
		}
	}
	var l temperature.Likelihood
	examples := second(joined(t.Sessions))
	if step := t.step(perExample); step > 1 {
		every := func(i int) bool { return i%step > 0 }
		examples = examples.Pick(slices.DeleteFunc(dense.Range(0, len(examples.Y)), every))
	}
	err = episodes.Answers(head, examples, func(_ int, a episodes.Answer) { l.Add(a.LogProb, a.Own) })
	if err != nil {
		return nil, Calibration{}, err
	}
	return l.Minimum(), Calibration{
		Source: Simulated, Samples: l.Len(),
		Novelty: Novelty{Reason: "most classes have a single image, so that none can be left out: a threshold needs " +
			"two or more images of most classes"},
	}, nil
}

// second returns simulated second examples.
func second(s episodes.Episode) episodes.Episode {
	n, d := s.X.Rows, s.X.Cols
	centred := widened(s.X)
	mean := dense.MeanRow(centred)
	dense.SubtractRow(centred, mean)
	rng := random.Stream(0, "classifier/calibration/simulated", n)
	rows := n * perExample
	out := episodes.Episode{X: blas32.General{Rows: rows, Cols: d, Stride: d, Data: make([]float32, rows*d)}}
	noise := make([]float64, d)
	for i := range out.X.Rows {
		clear(noise)
		for range combined {
			weight, row := rng.NormFloat64()/math.Sqrt(combined), dense.Row(centred, rng.IntN(n))
			floats.AddScaled(noise, weight, row)
		}
		own, row := dense.Row(centred, i%n), dense.Row32(out.X, i)
		for j := range row {
			row[j] = float32(mean[j] + correlation*own[j] + math.Sqrt(1-correlation*correlation)*noise[j])
		}
		out.Y = append(out.Y, s.Y[i%n])
	}
	return out
}

// widened returns a copy of x, whose rows follow each other.
func widened(x blas32.General) blas64.General {
	out := dense.New(x.Rows, x.Cols)
	dense.Widen(out.Data, x.Data)
	return out
}
