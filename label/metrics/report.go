package metrics

import (
	"encoding/json"
	"fmt"
	"io"

	"gonum.org/v1/gonum/blas/blas64"
)

// Bins is the number of equal-width confidence bins of the calibration error.
const Bins = 15

// MaxNLLNats is the most that one sample adds to the sum of the negative
// log-likelihood: −log of the smallest positive float64.
const MaxNLLNats = 744.4400719213812

// A Report is the result of an evaluation. `pipeline eval --json` prints it as
// JSON.
type Report struct {
	// N counts the samples of known classes, over which Accuracy is taken.
	N                int     `json:"n"`
	Accuracy         float64 `json:"accuracy"`
	BalancedAccuracy float64 `json:"balanced_accuracy"`
	// NLLNats is the mean negative log-likelihood in nats.
	NLLNats float64 `json:"nll"`
	ECE     float64 `json:"ece"`
	// NoveltyAUROC is nil without samples of unknown classes or without
	// novelty.
	NoveltyAUROC *float64 `json:"novelty_auroc"`
	// NewECE is the calibration error of the probability of being of an unknown class; nil
	// as NoveltyAUROC, and without these probabilities.
	NewECE   *float64 `json:"new_ece"`
	PerClass []Class  `json:"per_class"`
	// Confusion counts samples: row = true class, column = predicted class,
	// both in the order of Classes.
	Confusion [][]int  `json:"confusion"`
	Classes   []string `json:"classes"`
	// NUnknown counts samples of classes that the model does not know,
	// NUnlabelled those without a label.
	NUnknown    int `json:"n_unknown"`
	NUnlabelled int `json:"n_unlabelled"`
	// NLearned counts samples that the model has learned, which make the figures too good.
	NLearned int `json:"n_learned,omitempty"`
	// Reliability holds the bins behind ECE, lowest confidence first.
	Reliability [Bins]Bin `json:"-"`
}

// A Class is one line of the per-class table.
type Class struct {
	Name string `json:"class"`
	N    int    `json:"n"`
	// Accuracy is the share of the class's samples that were recognised, nil
	// (null) if there are none.
	Accuracy *float64 `json:"accuracy"`
}

// WriteJSON writes the report as indented JSON, as `pipeline eval --json` does.
func (r *Report) WriteJSON(w io.Writer) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// Evaluate compares n predictions over C classes with the truth. Row i of
// logProb (n×C, nats) belongs to truth[i]; novelty (n) may be nil. It feeds an
// [Accumulator] once; see there for errors and cost.
func Evaluate(classes, truth []string, logProb blas64.General, novelty []float64) (*Report, error) {
	a, err := NewAccumulator(classes)
	if err != nil {
		return nil, err
	}
	if err := a.Add(truth, logProb, novelty); err != nil {
		return nil, err
	}
	return a.Report()
}

// Report summarises the samples added so far. It fails if none belongs to a
// known class. Cost: C² for the confusion matrix, n log n for the AUROC.
func (a *Accumulator) Report() (*Report, error) {
	r := a.sums
	if r.N == 0 {
		return nil, fmt.Errorf("evaluate: no sample belongs to any of the model's %d classes (%d of other classes, "+
			"%d without a label)", len(r.Classes), len(a.unknown), r.NUnlabelled)
	}
	r.NLLNats /= float64(r.N)
	for range r.Classes {
		r.Confusion = append(r.Confusion, make([]int, len(r.Classes)))
	}
	for at, n := range a.counts {
		r.Confusion[at.truth][at.predicted] = n
	}
	r.fillAccuracies()
	r.fillReliability()
	if a.hasNovelty {
		r.NoveltyAUROC = AUROC(a.known, a.unknown)
	}
	if a.told > 0 && len(a.unknown) > 0 {
		r.NewECE = new(a.newError())
	}
	return &r, nil
}

func (r *Report) fillAccuracies() {
	right, present := 0, 0
	for i, row := range r.Confusion {
		c := Class{Name: r.Classes[i]}
		for _, n := range row {
			c.N += n
		}
		if c.N > 0 {
			share := float64(row[i]) / float64(c.N)
			c.Accuracy = &share
			r.BalancedAccuracy += share
			right += row[i]
			present++
		}
		r.PerClass = append(r.PerClass, c)
	}
	r.Accuracy = float64(right) / float64(r.N)
	r.BalancedAccuracy /= float64(present)
}
