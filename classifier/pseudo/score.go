package pseudo

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
)

// A result is what one head reached in one split.
type result struct {
	accuracy float64 // 0 to 1
	nll      float64 // nats
}

// both is the mean of the results on base and on novel examples.
func both(head classifier.Classifier, base, novel session) (result, error) {
	a, err := measure(head, base)
	if err != nil {
		return result{}, err
	}
	b, err := measure(head, novel)
	return result{(a.accuracy + b.accuracy) / 2, (a.nll + b.nll) / 2}, err
}

// measure compares a head's answers with the labels.
func measure(head classifier.Classifier, s session) (result, error) {
	var right, nll float64
	err := classifier.Batches(head, s.x, func(first int, logProb blas64.General) error {
		for i := range logProb.Rows {
			row := logProb.Data[i*logProb.Stride : i*logProb.Stride+logProb.Cols]
			own := slices.Index(head.Classes(), s.y[first+i])
			if own < 0 {
				return fmt.Errorf("%q: %w", s.y[first+i], classifier.ErrUnknownClass)
			}
			nll -= row[own]
			if own == firstMax(row) {
				right++
			}
		}
		return nil
	})
	n := float64(s.x.Rows)
	return result{right / n, nll / n}, err
}

// firstMax is the class that Predict would give.
func firstMax(row []float64) int {
	best := 0
	for j, v := range row {
		if v > row[best] {
			best = j
		}
	}
	return best
}

// score sums up the splits of one candidate.
func score[T any](candidate T, splits []result) Score[T] {
	s := Score[T]{Candidate: candidate}
	values := make([]float64, len(splits))
	for i, r := range splits {
		values[i] = r.accuracy
		s.NLL += r.nll / float64(len(splits))
	}
	s.Mean, s.SEM = meanAndError(values)
	return s
}

// pick returns the candidate that the rule of the package chooses.
func pick[T any](results [][]result, scores []Score[T]) int {
	best := 0
	for i, s := range scores {
		if s.Mean > scores[best].Mean {
			best = i
		}
	}
	chosen := best
	for i, s := range scores {
		tied := i == best || tie(column(results, best), column(results, i))
		if tied && (s.NLL < scores[chosen].NLL || s.NLL == scores[chosen].NLL && i < chosen) {
			chosen = i
		}
	}
	return chosen
}

// tie says whether the loss against the best is within one standard error.
func tie(best, other []result) bool {
	loss := make([]float64, len(best))
	for i := range best {
		loss[i] = best[i].accuracy - other[i].accuracy
	}
	mean, sem := meanAndError(loss)
	return mean <= sem
}

// meanAndError returns the mean and its standard error, 0 for one value.
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
