package backbone

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// ErrNotPulled means that the file of a catalogue name is not in the cache.
var ErrNotPulled = errors.New("not pulled yet")

// An UnknownNameError is a --backbone that is neither a file nor a name.
type UnknownNameError struct {
	Name  string
	Names []string
}

func (e *UnknownNameError) Error() string {
	return fmt.Sprintf("backbone %q: no such file and not in the catalogue%s; names are %s",
		e.Name, suggest.Hint(e.Name, e.Names), strings.Join(e.Names, ", "))
}

// A HashError is a file whose SHA-256 differs from the expected one.
type HashError struct {
	Path      string // of the file, "" for the built-in backbone
	Want, Got string // SHA-256 in hexadecimal
}

func (e *HashError) Error() string {
	return fmt.Sprintf("%s has SHA-256 %s, not %s", cmp.Or(e.Path, "the built-in backbone"), e.Got, e.Want)
}

func unknownName(name string, entries []Entry) error {
	e := &UnknownNameError{Name: name}
	for _, entry := range entries {
		e.Names = append(e.Names, entry.Name)
	}
	return e
}
