package experiment

import "context"

// An Experiment is one kind of experiment with its settings.
type Experiment interface {
	// Validate returns an error that names the first setting out of range.
	Validate() error
	// Run measures what Env does not hold yet, and returns everything.
	Run(context.Context, Env) (Outcome, error)
}
