package classifier

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// batchValues bounds the log-probabilities that Batches holds at once: 8 Mi
// values, 64 MiB.
const batchValues = 8 << 20

// maxBatch bounds the rows of a batch when there are few classes; hppca takes
// half as long per image in such batches as in batches of 256.
const maxBatch = 1024

// A Prediction is the result of classifying one embedding.
type Prediction struct {
	// Label is the most probable class; among equals, the one learned first.
	Label string
	// Probability is the probability of Label, 0 to 1.
	Probability float64
	// Margin is the lead over the second class, 0 to 1; with a single class it is
	// the probability itself.
	Margin float64
	// Entropy is the entropy of the distribution over classes, in nats.
	Entropy float64
	// Novelty is the head's score, higher meaning less known.
	Novelty float64
	// TopK holds the most probable classes, best first.
	TopK []Ranked
}

// Ranked is a class with its probability.
type Ranked struct {
	Label       string
	Probability float64
}

// Predict labels every row of x (n×d) and returns the topK most probable
// classes of each (all classes if there are fewer). It works in batches: memory
// beyond the result does not grow with n.
func Predict(c Head, x blas32.General, topK int) ([]Prediction, error) {
	if topK < 0 {
		return nil, fmt.Errorf("predict: top-k of %d", topK)
	}
	var out []Prediction
	err := ScoreBatches(c, x, func(_ int, logProb blas64.General, novelty []float64) error {
		for i := range logProb.Rows {
			p := FromLogProb(c.Classes(), dense.Row(logProb, i), topK)
			p.Novelty = novelty[i]
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	return out, nil
}

// Batches calls do with the log-probabilities of successive batches of rows of
// x; first is the first row of the batch. The matrix is reused from call to
// call, so that memory does not grow with n.
func Batches(c Head, x blas32.General, do func(first int, logProb blas64.General) error) error {
	return eachBatch(c, x, nil,
		func(first int, logProb blas64.General, _ []float64) error { return do(first, logProb) })
}

// ScoreBatches is Batches that also computes the novelty of the rows.
func ScoreBatches(c Head, x blas32.General, do func(first int, logProb blas64.General, novelty []float64) error) error {
	return eachBatch(c, x, make([]float64, min(maxBatch, max(x.Rows, 0))), do)
}

// eachBatch scores x in batches; novelty is nil or a buffer for one batch.
func eachBatch(c Head, x blas32.General, novelty []float64,
	do func(first int, logProb blas64.General, novelty []float64) error) error {
	classes := len(c.Classes())
	if classes == 0 {
		return ErrNotFitted
	}
	if err := dense.Valid32(x); err != nil {
		return fmt.Errorf("embeddings: %w", err)
	}
	size := min(maxBatch, max(1, batchValues/classes))
	buf := dense.New(min(size, x.Rows), classes)
	for first := 0; first < x.Rows; first += size {
		rows := dense.Rows32(x, first, min(first+size, x.Rows))
		dst := dense.Rows(buf, 0, rows.Rows)
		scores := novelty
		if novelty != nil {
			scores = novelty[:rows.Rows]
		}
		if err := c.Score(dst, scores, rows); err != nil {
			return offsetRow(err, first)
		}
		if err := do(first, dst, scores); err != nil {
			return err
		}
	}
	return nil
}

// FromLogProb returns the Prediction (without novelty) for the
// log-probabilities of the classes.
func FromLogProb(classes []string, logProb []float64, topK int) Prediction {
	if len(logProb) == 0 {
		return Prediction{}
	}
	order := top(logProb, max(topK, 2))
	p := Prediction{Label: classes[order[0]], Probability: math.Exp(logProb[order[0]]), Entropy: Entropy(logProb)}
	p.Margin = p.Probability
	if len(order) > 1 {
		p.Margin -= math.Exp(logProb[order[1]])
	}
	for _, j := range order[:min(topK, len(order))] {
		p.TopK = append(p.TopK, Ranked{Label: classes[j], Probability: math.Exp(logProb[j])})
	}
	return p
}

// top returns the columns of the k largest values, best first; among equals,
// the lower column comes first.
func top(values []float64, k int) []int {
	best := make([]int, 0, min(k, len(values))+1)
	for j, v := range values {
		if len(best) == k && !(v > values[best[k-1]]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, v, func(i int, v float64) int {
			if values[i] >= v {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, j)
		best = best[:min(len(best), k)]
	}
	return best
}

// offsetRow converts the row of a batch in an error to the row of the whole
// matrix.
func offsetRow(err error, first int) error {
	var bad *NotFiniteError
	if errors.As(err, &bad) {
		return &NotFiniteError{Row: bad.Row + first}
	}
	return err
}
