package classifier

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// scoringRows is how many rows a Scoring hands to Scores at a time where the
// head does not say.
const scoringRows = 256

// A Scoring makes Score of a head that can score a few rows against all
// classes: the checks, the batches and the normalisation are the same for all of
// them.
type Scoring struct {
	// Method names the head in errors.
	Method string
	// Head is asked for its classes and its dimension.
	Head Head
	// Scores returns the scores (n×C) of at most Batch rows, in most heads
	// log-densities up to a constant that all classes share.
	Scores func(x blas32.General) (blas64.General, error)
	// Batch is the most rows to score at a time; 0 means 256.
	Batch int
	// LogProb writes the log-probabilities that belong to the scores of one
	// row; nil means their log-softmax.
	LogProb func(dst, scores []float64)
	// Novelty is that of one row; nil means the negative largest score.
	Novelty func(scores []float64) float64
}

// Score is Head.Score.
func (s Scoring) Score(dst blas64.General, novelty []float64, x blas32.General) error {
	if err := CheckScore(s.Head, dst, novelty, x); err != nil {
		return fmt.Errorf("%s: %w", s.Method, err)
	}
	return s.each(x, func(i int, scores []float64) {
		if novelty != nil {
			novelty[i] = s.novelty(scores)
		}
		s.logProb(dense.Row(dst, i), scores)
	})
}

func (s Scoring) logProb(dst, scores []float64) {
	if s.LogProb != nil {
		s.LogProb(dst, scores)
		return
	}
	copy(dst, scores)
	LogSoftmax(dst)
}

func (s Scoring) novelty(scores []float64) float64 {
	if s.Novelty != nil {
		return s.Novelty(scores)
	}
	return -slices.Max(scores)
}

// each calls do with the scores of every row of x, of several rows at once.
func (s Scoring) each(x blas32.General, do func(i int, scores []float64)) error {
	size := s.Batch
	if size == 0 {
		size = scoringRows
	}
	for first := 0; first < x.Rows; first += size {
		scores, err := s.Scores(dense.Rows32(x, first, min(first+size, x.Rows)))
		if err != nil {
			return fmt.Errorf("%s: %w", s.Method, err)
		}
		dense.Parallel(scores.Rows, func(i int) { do(first+i, dense.Row(scores, i)) })
	}
	return nil
}
