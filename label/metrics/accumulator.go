package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// An Accumulator takes predictions in batches, so that an evaluation needs no
// n×C matrix: it keeps counts, and one number per sample when there is novelty.
// The batch boundaries never change the result. It is not safe for concurrent
// use.
type Accumulator struct {
	// sums holds the counts, and in NLLNats and Reliability sums instead of means.
	sums   Report
	column map[string]int
	counts map[cell]int
	// Novelty of the samples of known and of unknown classes.
	known, unknown []float64
	hasNovelty     bool
	// Of the samples with a probability of being new: its sum in each bin, and how many were.
	told     int
	new, was [Bins]float64
}

type cell struct{ truth, predicted int }

// NewAccumulator starts an evaluation over the model's classes, in column
// order. Duplicate names are an error.
func NewAccumulator(classes []string) (*Accumulator, error) {
	if len(classes) == 0 {
		return nil, fmt.Errorf("evaluate: the model has no classes")
	}
	a := &Accumulator{sums: Report{Classes: slices.Clone(classes)}, column: map[string]int{}, counts: map[cell]int{}}
	for i, c := range classes {
		if _, twice := a.column[c]; twice {
			return nil, fmt.Errorf("evaluate: the class %q occurs twice", c)
		}
		a.column[c] = i
	}
	return a, nil
}

// Add takes one batch: row i of logProb (n×C, nats) and novelty[i] belong to
// truth[i]. An empty truth marks a sample without a label. Novelty is nil in
// every batch or in none. NaN is an error that names the row; on error nothing
// is added.
func (a *Accumulator) Add(truth []string, logProb blas64.General, novelty []float64) error {
	if err := a.check(truth, logProb, novelty); err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	a.hasNovelty = a.hasNovelty || novelty != nil && len(truth) > 0
	for i, label := range truth {
		if label == "" {
			a.sums.NUnlabelled++
			continue
		}
		scores := &a.unknown
		if column, known := a.column[label]; known {
			scores = &a.known
			a.addKnown(column, dense.Row(logProb, i))
		} else {
			a.sums.NUnknown++
		}
		if novelty != nil {
			*scores = append(*scores, novelty[i])
		}
	}
	return nil
}

// AddNew adds the probability that a sample is of an unknown class, and whether it is.
func (a *Accumulator) AddNew(p float64, unknown bool) {
	a.told++
	a.new[binOf(p)] += p
	if unknown {
		a.was[binOf(p)]++
	}
}

func (a *Accumulator) check(truth []string, logProb blas64.General, novelty []float64) error {
	n := len(truth)
	if logProb.Rows != n || logProb.Cols != len(a.sums.Classes) {
		return fmt.Errorf("probabilities are %d×%d, the truth is %d×%d", logProb.Rows, logProb.Cols, n,
			len(a.sums.Classes))
	}
	if n > 0 && (logProb.Stride < logProb.Cols || len(logProb.Data) < (n-1)*logProb.Stride+logProb.Cols) {
		return fmt.Errorf("the probability matrix is shorter than its %d rows", n)
	}
	if novelty != nil && len(novelty) != n {
		return fmt.Errorf("%d novelties for %d samples", len(novelty), n)
	}
	if a.sums.N+a.sums.NUnknown > 0 && n > 0 && a.hasNovelty != (novelty != nil) {
		return fmt.Errorf("novelty was given for some batches only")
	}
	for i := range n {
		if r := dense.Row(logProb, i); floats.HasNaN(r) || slices.Contains(r, math.Inf(1)) {
			return fmt.Errorf("row %d: a log-probability is NaN or +Inf", i)
		}
	}
	if i := slices.IndexFunc(novelty, math.IsNaN); i >= 0 {
		return fmt.Errorf("row %d: the novelty is NaN", i)
	}
	return nil
}

func (a *Accumulator) addKnown(truth int, logProb []float64) {
	predicted := floats.MaxIdx(logProb)
	a.sums.N++
	a.counts[cell{truth, predicted}]++
	a.sums.NLLNats += min(-logProb[truth], MaxNLLNats)

	confidence := min(math.Exp(logProb[predicted]), 1)
	b := &a.sums.Reliability[binOf(confidence)]
	b.N++
	b.Confidence += confidence
	if predicted == truth {
		b.Accuracy++
	}
}

// AUROC returns the area under the receiver operating characteristic of a score
// that should be higher for positives than for negatives: the probability that
// it is for a random pair, ties counting half. It returns nil when either side
// is empty or a score is NaN. Cost: n log n.
func AUROC(negatives, positives []float64) *float64 {
	if len(negatives) == 0 || len(positives) == 0 {
		return nil
	}
	scores := make([]float64, 0, len(negatives)+len(positives))
	scores = append(append(scores, negatives...), positives...)
	positive := make([]bool, len(scores))
	for i := range scores {
		positive[i] = i >= len(negatives)
		if math.IsNaN(scores[i]) {
			return nil
		}
		// stat.ROC uses +Inf as its own last cut-off.
		scores[i] = max(min(scores[i], math.MaxFloat64), -math.MaxFloat64)
	}
	stat.SortWeightedLabeled(scores, positive, nil)
	tpr, fpr, _ := stat.ROC(nil, scores, positive, nil)
	area := integrate.Trapezoidal(fpr, tpr)
	return &area
}
