package classifier

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// scoringRows is the number of rows that a Scoring passes to Scores at a time
// by default.
const scoringRows = 256

// A Scoring implements Head.Score for a head that can score a few rows against
// all classes: it adds the checks, the batches and the normalisation.
type Scoring struct {
	// Method names the head in errors.
	Method string
	// Head is asked for its classes and its dimension.
	Head Head
	// Scores returns the scores (n×C) of at most Batch rows; in most heads these
	// are log-densities up to a constant that all classes share. Further columns are
	// for Novelty.
	Scores func(x blas32.General) (blas64.General, error)
	// Batch is the maximum number of rows to score at a time; 0 means 256.
	Batch int
	// LogProb writes the log-probabilities for the scores of one row; nil means
	// their log-softmax.
	LogProb func(dst, scores []float64)
	// Novelty returns the novelty of one row; nil means the negative largest
	// score.
	Novelty func(scores []float64) float64
}

// Score implements Head.Score.
func (s Scoring) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if s.LogProb == nil {
		s.LogProb = func(dst, scores []float64) {
			copy(dst, scores)
			LogSoftmax(dst)
		}
	}
	if s.Novelty == nil {
		s.Novelty = func(scores []float64) float64 { return -slices.Max(scores) }
	}
	err := CheckScore(s.Head, dst, novelty, x)
	size := cmp.Or(s.Batch, scoringRows)
	for first := 0; err == nil && first < x.Rows; first += size {
		var scores blas64.General
		if scores, err = s.Scores(dense.Rows32(x, first, min(first+size, x.Rows))); err != nil {
			break
		}
		dense.Parallel(scores.Rows, func(i int) {
			row := dense.Row(scores, i)
			if novelty != nil {
				novelty[first+i] = s.Novelty(row)
			}
			s.LogProb(dense.Row(dst, first+i), row)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Method, err)
	}
	return nil
}

// WithUnseen returns scores (n×C) with those of a class that has not been seen (n) in the
// last column, for Unseen.
func WithUnseen(scores blas64.General, unseen []float64) blas64.General {
	out := dense.New(scores.Rows, scores.Cols+1)
	dense.Copy(out, scores)
	for i, v := range unseen {
		dense.Row(out, i)[scores.Cols] = v
	}
	return out
}

// Unseen is the novelty of a head that knows what to expect of a class that it has not
// seen: log p(x|new) − max log p(x|c), nats, from the log-densities of the classes and, in
// the last place, that of the new one. What all of them share, such as how unusual the
// photo is, cancels. (The sum over classes that belongs there is its largest term:
// log-densities of hundreds of numbers lie tens of nats apart.)
func Unseen(logDensities []float64) float64 {
	C := len(logDensities) - 1
	return logDensities[C] - slices.Max(logDensities[:C])
}
