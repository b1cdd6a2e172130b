package label

import (
	"crypto/sha256"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label/metrics"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// An Evaluation is a Sink that compares predictions with the true classes given
// by folders or lists. Its memory grows by at most a few bytes per row.
type Evaluation struct {
	// Known and Unknown count the rows of classes that the head knows and those
	// of other classes, and how many of each were rejected.
	Known, Unknown struct{ Rows, Rejected int }
	// Learned, unless nil, reports whether the head has learned the file of a content.
	Learned func(content [sha256.Size]byte) bool

	learned   int                       // rows
	fresh     struct{ rows, right int } // not learned, with a label
	sums      *metrics.Accumulator
	known     map[string]bool
	spelling  func(label string) string
	knownOnly bool
}

// NewEvaluation returns an Evaluation against the classes of a head. With
// knownOnly, images in a folder that is not named after a class have no truth, and neither
// have those that were learned or decided, of which a head is right;
// otherwise the folder is a class that the head does not know, and what was learned is counted.
func NewEvaluation(classes []string, knownOnly bool) (*Evaluation, error) {
	e := &Evaluation{known: make(map[string]bool, len(classes)), spelling: dataset.Spelling(classes),
		knownOnly: knownOnly}
	for _, class := range classes {
		e.known[class] = true
	}
	var err error
	e.sums, err = metrics.NewAccumulator(classes)
	return e, err
}

// Truth returns the true class of a row, "" if it is unknown. What a person decided is
// true, whatever the folder says.
func (e *Evaluation) Truth(row Scored) string {
	class := e.spelling(dataset.EscapePath(row.Sample.Label))
	if row.By.Seen() {
		class = row.Prediction.Label
	}
	if e.knownOnly && (!e.known[class] || row.By != "" || e.hasLearned(row)) {
		return ""
	}
	return class
}

func (e *Evaluation) hasLearned(row Scored) bool { return e.Learned != nil && e.Learned(row.Content) }

// Put implements Sink.
func (e *Evaluation) Put(row Scored) error {
	truth := e.Truth(row)
	if truth == "" {
		return nil
	}
	of := &e.Unknown
	if e.known[truth] {
		of = &e.Known
	}
	of.Rows++
	switch {
	case e.hasLearned(row):
		e.learned++
	case !row.Rejected:
		e.fresh.rows++
		if row.Prediction.Label == truth {
			e.fresh.right++
		}
	}
	if row.Rejected {
		of.Rejected++
	}
	var novelty []float64
	if !e.knownOnly {
		novelty = []float64{row.Prediction.Novelty}
		if row.New != nil {
			e.sums.AddNew(*row.New, !e.known[truth])
		}
	}
	c := len(row.LogProb)
	return e.sums.Add([]string{truth}, blas64.General{Rows: 1, Cols: c, Stride: c, Data: row.LogProb}, novelty)
}

// Report returns the metrics; nil if no row had a known class and none was
// required.
func (e *Evaluation) Report() (*metrics.Report, error) {
	if e.knownOnly && e.Known.Rows == 0 {
		return nil, nil
	}
	r, err := e.sums.Report()
	if err != nil {
		return nil, err
	}
	r.NLearned = e.learned
	return r, nil
}

// Measured returns the share right of the labels of photos that were not learned, nil without such.
func (e *Evaluation) Measured() *account.Measured {
	return account.Measure(e.fresh.right, e.fresh.rows, 0)
}

// Commit implements Sink.
func (e *Evaluation) Commit(embedding.Outcome) error { return nil }

// Abort implements Sink.
func (e *Evaluation) Abort() {}
