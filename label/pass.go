package label

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
)

// A Sink receives every scored row, in order.
type Sink interface {
	// Put takes one row. An *ItemError concerns this row only; any other error
	// ends the pass.
	Put(Scored) error
	// Commit is called after the last row, with the outcome of the pass. [Refused]
	// concerns these images only, and the sinks after it see them in the outcome;
	// any other error ends the pass. Abort is always called, and does nothing after Commit.
	Commit(embedding.Outcome) error
	Abort()
}

// A Lister is a Sink whose files belong to the results of a job.
type Lister interface {
	// Files returns their paths below the folder of the results, in order, once they are
	// committed.
	Files() []string
}

// An ItemError concerns one image only.
type ItemError struct{ Err error }

func (e *ItemError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

// Refused are images that a sink could not finish when it was committed.
type Refused []dataset.Problem

func (r Refused) Error() string { return fmt.Sprintf("%s: %v", r[0].Path, r[0].Err) }

func abort(sinks []Sink) {
	for _, s := range sinks {
		s.Abort()
	}
}

// errNoRows means that a Pass or a Job has nothing to score.
var errNoRows = errors.New("no images are given: set Images of a Job, Rows of a Pass")

// A Pass scores every row once for any number of sinks, or takes the scores of rows that are [Kept]. Its
// memory does not grow with the number of rows, only with failures.
type Pass struct {
	Scorer Scorer
	Rows   embedding.Rows
	Sinks  []Sink
}

// Run passes all rows to all sinks, then commits the sinks in order.
func (p Pass) Run(ctx context.Context) (embedding.Outcome, error) {
	defer abort(p.Sinks)
	if p.Rows == nil {
		return embedding.Outcome{}, errNoRows
	}
	var refused []dataset.Problem
	outcome, err := p.Scorer.each(ctx, p.Rows, func(row Scored) error {
		for _, s := range p.Sinks {
			var item *ItemError
			if err := s.Put(row); errors.As(err, &item) {
				refused = append(refused, dataset.Problem{Path: row.Sample.Path, Err: item})
			} else if err != nil {
				return fmt.Errorf("%s: %w", row.Sample.Path, err)
			}
		}
		return nil
	})
	outcome.Problems = append(outcome.Problems, refused...)
	for _, s := range p.Sinks {
		if err != nil {
			break
		}
		var late Refused
		if err = s.Commit(outcome); errors.As(err, &late) {
			outcome.Problems, err = append(outcome.Problems, late...), nil
		}
	}
	return outcome, err
}

// each emits the scored rows.
func (s Scorer) each(ctx context.Context, rows embedding.Rows, emit func(Scored) error) (outcome embedding.Outcome,
	err error) {
	if kept, ok := rows.(*Kept); ok {
		return kept.each(ctx, func(item embedding.Item, k keptRow, logProb []float64) error {
			row := s.row(item, k.decided, logProb, k.novelty, 0)
			row.Doubt = k.doubt
			return emit(row)
		})
	}
	err = score(s.Head, s.Varier, func(add func(embedding.Item) error) (err error) {
		outcome, err = rows.Each(ctx, add)
		return err
	}, func(item embedding.Item, logProb []float64, novelty, variance float64) error {
		return emit(s.row(item, s.Decided.find(item), logProb, novelty, variance))
	})
	return outcome, err
}
