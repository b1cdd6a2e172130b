// Package phrase has errors that name settings, which each reader knows by another name: a program as a field, whoever
// types as a flag.
package phrase

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An Error is an error whose text names settings, such as images or class-from.
type Error struct {
	format string // with the settings in braces
	args   []any
	plain  error // of the format as it is
}

// New returns an Error. Its format has the names of settings in braces, and may wrap other errors by %w.
func New(format string, args ...any) *Error { return &Error{format, args, fmt.Errorf(format, args...)} }

func (e *Error) Error() string { return e.With(func(setting string) string { return setting }) }

// Unwrap returns what the format wraps, nil for nothing.
func (e *Error) Unwrap() []error {
	switch wraps := e.plain.(type) {
	case interface{ Unwrap() []error }:
		return wraps.Unwrap()
	case interface{ Unwrap() error }:
		return []error{wraps.Unwrap()}
	}
	return nil
}

var settingNames = regexp.MustCompile(`\{[a-z-]+\}`)

// With returns the text with other names of the settings.
func (e *Error) With(name func(setting string) string) string {
	format := settingNames.ReplaceAllStringFunc(e.format, func(braced string) string {
		return strings.ReplaceAll(name(strings.Trim(braced, "{}")), "%", "%%")
	})
	args := slices.Clone(e.args)
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = errors.New(Text(err, name))
		}
	}
	return fmt.Errorf(format, args...).Error() // which knows %w
}

// Text returns the text of an error with other names of the settings, wherever in it they are.
func Text(err error, name func(setting string) string) string {
	text := err.Error()
	for _, e := range outermost(err) {
		text = strings.Replace(text, e.Error(), e.With(name), 1)
	}
	return text
}

// outermost returns the Errors that an error is or wraps, without those that these wrap.
func outermost(err error) (all []*Error) {
	switch e := err.(type) {
	case *Error:
		return []*Error{e}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, outermost(inner)...)
		}
	case interface{ Unwrap() error }:
		return outermost(e.Unwrap())
	}
	return all
}
