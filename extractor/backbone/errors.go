package backbone

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// ErrNotPulled means that the file of a catalogue name is not in the cache.
var ErrNotPulled = errors.New("not pulled yet")

// An UnknownNameError is a --backbone that is neither a file nor a name.
type UnknownNameError struct {
	Name    string
	Nearest string // "" where no name is close
	Names   []string
}

func (e *UnknownNameError) Error() string {
	text := fmt.Sprintf("backbone %q: no such file and not in the catalogue", e.Name)
	if e.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Nearest)
	}
	return text + "; names are " + strings.Join(e.Names, ", ")
}

// A HashError is a file whose SHA-256 differs from the expected one.
type HashError struct {
	Path      string // of the file, "" for the built-in backbone
	Want, Got string // SHA-256 in hexadecimal
}

func (e *HashError) Error() string {
	name := e.Path
	if name == "" {
		name = "the built-in backbone"
	}
	return fmt.Sprintf("%s has SHA-256 %s, not %s", name, e.Got, e.Want)
}

func unknownName(name string, entries []Entry) error {
	e := &UnknownNameError{Name: name, Names: []string{Default}}
	for _, entry := range entries {
		e.Names = append(e.Names, entry.Name)
	}
	e.Nearest = nearest(name, e.Names)
	return e
}

// nearest returns the candidate with the smallest edit distance, or "" if even
// that one differs in more than a third of its letters.
func nearest(name string, candidates []string) string {
	best, fewest := "", len(name)/3+1
	for _, c := range candidates {
		if n := levenshtein.ComputeDistance(strings.ToLower(name), c); n < fewest || n == fewest && best == "" {
			best, fewest = c, n
		}
	}
	return best
}
