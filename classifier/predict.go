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

// batchValues bounds the log-probabilities held at once by Batches: 8 Mi
// values, 64 MiB.
const batchValues = 8 << 20

// maxBatch bounds the rows of a batch where classes are few; hppca takes half
// as long for an image in such batches as in those of 256.
const maxBatch = 1024

// A Prediction is what one embedding was taken for.
type Prediction struct {
	// Label is the most probable class; of equals, the one learned first.
	Label string
	// Probability is that of Label, 0 to 1.
	Probability float64
	// Margin is the lead over the second class, 0 to 1; the probability
	// itself where there is only one class.
	Margin float64
	// Entropy of the distribution over classes, in nats.
	Entropy float64
	// Novelty is the head's score, higher meaning less known; 0 from a head
	// that is no Noveltier.
	Novelty float64
	// TopK holds the most probable classes, best first.
	TopK []Ranked
}

// Ranked is a class with its probability.
type Ranked struct {
	Label       string
	Probability float64
}

// Predict labels every row of x (n×d), keeping the topK most probable classes
// of each (all of them where there are fewer). It works in batches: memory
// beyond the result does not grow with n.
func Predict(c Classifier, x blas32.General, topK int) ([]Prediction, error) {
	if topK < 0 {
		return nil, fmt.Errorf("predict: top-k of %d", topK)
	}
	var out []Prediction
	novelty := make([]float64, maxBatch)
	err := eachBatch(c, x, func(first int, dst blas64.General, rows blas32.General) error {
		if err := logProbAndNovelty(c, dst, novelty[:rows.Rows], rows); err != nil {
			return err
		}
		for i := range dst.Rows {
			p := FromLogProb(c.Classes(), dst.Data[i*dst.Stride:i*dst.Stride+dst.Cols], topK)
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

// logProbAndNovelty fills both, in one pass where the head can.
func logProbAndNovelty(c Classifier, dst blas64.General, novelty []float64, x blas32.General) error {
	if s, ok := As[Scorer](c); ok {
		return s.Score(dst, novelty, x)
	}
	if n, ok := As[Noveltier](c); ok {
		if err := n.Novelty(novelty, x); err != nil {
			return err
		}
	}
	return c.LogProb(dst, x)
}

// Batches calls do with the log-probabilities of successive rows of x,
// beginning at row first. The matrix is reused from call to call, so that
// memory does not grow with n.
func Batches(c Classifier, x blas32.General, do func(first int, logProb blas64.General) error) error {
	return eachBatch(c, x, func(first int, dst blas64.General, rows blas32.General) error {
		if err := c.LogProb(dst, rows); err != nil {
			return err
		}
		return do(first, dst)
	})
}

// eachBatch calls do with batches of rows of x and room for their
// log-probabilities, the same room every time.
func eachBatch(c Classifier, x blas32.General, do func(first int, dst blas64.General, rows blas32.General) error) error {
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
		dst := blas64.General{Rows: rows.Rows, Cols: classes, Stride: classes, Data: buf.Data[:rows.Rows*classes]}
		if err := do(first, dst, rows); err != nil {
			return offsetRow(err, first)
		}
	}
	return nil
}

// FromLogProb makes a Prediction (without novelty) from the log-probabilities
// of the classes.
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

// top returns the columns of the k largest values, best first; of equals, the
// lower column comes first.
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

// offsetRow turns a row within a batch into a row of the whole matrix.
func offsetRow(err error, first int) error {
	var bad *NotFiniteError
	if errors.As(err, &bad) {
		return &NotFiniteError{Row: bad.Row + first}
	}
	return err
}
