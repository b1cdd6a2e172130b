package label

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
)

// A Labelled image is what a Sink gets.
type Labelled struct {
	// Path is the file's name as it is, relative to the image folder; Given the
	// class that the folder or list names.
	Path, Given string
	Row         Row
	Prediction  classifier.Prediction
	// Vector is the embedding (length d); it may be kept.
	Vector []float32
}

// A Sink gets every labelled image, in the order of paths, and does something
// with it beside the result files.
type Sink interface {
	// Put takes one image. An *ItemError is a row of errors.csv; any other error
	// ends the run.
	Put(Labelled) error
	// Commit is called once all rows are written, before the summary, with the
	// images that failed; Abort, a no-op after Commit, in any case.
	Commit(failed []dataset.Problem) error
	Abort()
}

// An ItemError concerns one image only.
type ItemError struct{ Err error }

func (e *ItemError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

// feed hands an image to all sinks.
func (r *run) feed(done Labelled) error {
	for _, s := range r.Sinks {
		err := s.Put(done)
		if item, ok := err.(*ItemError); ok {
			r.problems = append(r.problems, dataset.Problem{Path: done.Path, Err: item})
			continue
		}
		if err != nil {
			return fmt.Errorf("after labelling %s: %w", done.Path, err)
		}
	}
	return nil
}
