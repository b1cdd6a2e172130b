package pipeline

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// A UsageError reports a request that lacks something or contradicts itself. Nothing has been done.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// misuse returns a UsageError that names settings.
func misuse(format string, args ...any) error { return &UsageError{phrase.New(format, args...)} }

// A PartialError reports that the work is done except for some inputs. The result that comes with
// it is valid.
type PartialError struct {
	Failed int
	// File says why each of them failed.
	File string
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%d of the inputs failed; %s says why", e.Failed, e.File)
}

// partial returns a PartialError if some inputs failed.
func partial(failed int, file string) error {
	if failed == 0 {
		return nil
	}
	return &PartialError{failed, file}
}

// An UnsavedError reports that a model could not be written when the work ended. It is no
// consequence of an interruption. Every decision is in the journal.
type UnsavedError struct {
	File string
	Err  error
}

func (e *UnsavedError) Error() string { return fmt.Sprintf("%s was not written: %v", e.File, e.Err) }

// Unwrap returns the reason.
func (e *UnsavedError) Unwrap() error { return e.Err }
