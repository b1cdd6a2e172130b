package episodes

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// A Result is the result of one head in one split: averages over its results on
// base and on novel examples.
type Result struct {
	Accuracy float64 // 0 to 1
	NLL      float64 // nats
}

// both returns the mean of the results on base and on novel examples.
func both(head classifier.Head, base, novel Episode) (Result, error) {
	a, err := measure(head, base)
	if err != nil {
		return Result{}, err
	}
	b, err := measure(head, novel)
	return Result{(a.Accuracy + b.Accuracy) / 2, (a.NLL + b.NLL) / 2}, err
}

// measure compares a head's answers with the labels.
func measure(head classifier.Head, s Episode) (Result, error) {
	var right, nll float64
	err := classifier.Batches(head, s.X, func(first int, logProb blas64.General) error {
		for i := range logProb.Rows {
			row := logProb.Data[i*logProb.Stride : i*logProb.Stride+logProb.Cols]
			own := slices.Index(head.Classes(), s.Y[first+i])
			if own < 0 {
				return fmt.Errorf("%q: %w", s.Y[first+i], classifier.ErrUnknownClass)
			}
			nll -= row[own]
			if own == floats.MaxIdx(row) {
				right++
			}
		}
		return nil
	})
	n := float64(s.X.Rows)
	return Result{right / n, nll / n}, err
}

// score summarises the splits of one candidate.
func score[T any](candidate T, splits []Result) Score[T] {
	s := Score[T]{Candidate: candidate}
	values := make([]float64, len(splits))
	for i, r := range splits {
		values[i] = r.Accuracy
		s.NLL += r.NLL / float64(len(splits))
	}
	s.Mean, s.SEM = meanAndError(values)
	return s
}

// pick returns the candidate that the selection rule of the package chooses.
func pick[T any](results [][]Result, scores []Score[T]) int {
	best := 0
	for i, s := range scores {
		if s.Mean > scores[best].Mean {
			best = i
		}
	}
	chosen := best
	for i, s := range scores {
		loss, sem := Gain(results, best, i) // a tie is within one standard error
		if (i == best || loss <= sem) && (s.NLL < scores[chosen].NLL || s.NLL == scores[chosen].NLL && i < chosen) {
			chosen = i
		}
	}
	return chosen
}

// meanAndError returns the mean and its standard error, which is 0 for one
// value.
func meanAndError(values []float64) (mean, sem float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	for _, v := range values {
		sem += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sem / (n - 1) / n)
}
