package metrics

import (
	"math"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
)

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
