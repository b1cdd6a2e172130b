package label

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/eval/metrics"
)

// An Evaluation is a Sink that compares predictions with the classes that
// folders or lists name, in memory that grows by a few bytes per row at most.
type Evaluation struct {
	// Known and Unknown count the rows of classes that the head knows and of
	// others, and how many of them were rejected.
	Known, Unknown struct{ Rows, Rejected int }

	sums      *metrics.Accumulator
	known     map[string]bool
	knownOnly bool
}

// NewEvaluation compares with the classes of a head. With knownOnly, a folder
// whose name is no class says nothing about its images; otherwise it is a class
// that the head does not know.
func NewEvaluation(classes []string, knownOnly bool) (*Evaluation, error) {
	e := &Evaluation{known: make(map[string]bool, len(classes)), knownOnly: knownOnly}
	for _, class := range classes {
		e.known[class] = true
	}
	var err error
	e.sums, err = metrics.NewAccumulator(classes)
	return e, err
}

// Truth returns the class of a sample, "" when nothing says it.
func (e *Evaluation) Truth(s dataset.Sample) string {
	class := dataset.EscapePath(s.Label)
	if e.knownOnly && !e.known[class] {
		return ""
	}
	return class
}

// Put implements Sink.
func (e *Evaluation) Put(row Scored) error {
	truth := e.Truth(row.Sample)
	if truth == "" {
		return nil
	}
	of := &e.Unknown
	if e.known[truth] {
		of = &e.Known
	}
	of.Rows++
	if row.Rejected {
		of.Rejected++
	}
	var novelty []float64
	if !e.knownOnly {
		novelty = []float64{row.Prediction.Novelty}
	}
	c := len(row.LogProb)
	return e.sums.Add([]string{truth}, blas64.General{Rows: 1, Cols: c, Stride: c, Data: row.LogProb}, novelty)
}

// Report sums up; it is nil when no class was known and nobody expects one.
func (e *Evaluation) Report() (*metrics.Report, error) {
	if e.knownOnly && e.Known.Rows == 0 {
		return nil, nil
	}
	return e.sums.Report()
}

// Commit implements Sink.
func (e *Evaluation) Commit(embed.Outcome) error { return nil }

// Abort implements Sink.
func (e *Evaluation) Abort() {}
