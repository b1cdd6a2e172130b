package pipeline

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Phrase is the text of an error that names settings of the request, such as images or class-from.
type Phrase struct {
	format string // with the settings in braces
	args   []any
	cause  error
}

// phrase returns a Phrase, in which %w may be the cause.
func phrase(format string, args ...any) *Phrase {
	return &Phrase{format, args, errors.Unwrap(fmt.Errorf(format, args...))}
}

func (p *Phrase) Error() string { return p.With(func(setting string) string { return setting }) }

// Unwrap returns the cause, nil if there is none.
func (p *Phrase) Unwrap() error { return p.cause }

var settingNames = regexp.MustCompile(`\{[a-z-]+\}`)

// With returns the text with other names of the settings, such as those of flags.
func (p *Phrase) With(name func(setting string) string) string {
	format := settingNames.ReplaceAllStringFunc(p.format, func(braced string) string {
		return strings.ReplaceAll(name(strings.Trim(braced, "{}")), "%", "%%")
	})
	return fmt.Errorf(format, p.args...).Error() // which knows %w
}

// A UsageError reports a request that lacks something or contradicts itself. Nothing has been done.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// misuse returns a UsageError with a Phrase.
func misuse(format string, args ...any) error { return &UsageError{phrase(format, args...)} }

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
