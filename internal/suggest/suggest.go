// Package suggest finds the name that a mistyped one stands for.
package suggest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// mostEdits bounds the edits between a name and a suggestion, however long they
// are.
const mostEdits = 4

// longestName bounds the names that are compared, in bytes: a comparison takes the cube of their length.
const longestName = 100

// Nearest returns the candidate with the fewest edits from name, ignoring case,
// or "" if it takes more than one edit in three letters, or more than four.
// Without such a candidate, it is the first that begins with name, if that has
// three letters or more.
func Nearest(name string, candidates []string) string {
	best, fewest := "", min(max(1, len([]rune(name))/3), mostEdits)+1
	for _, c := range candidates {
		if max(len(name), len(c)) > longestName {
			continue
		}
		if n := edits(name, c); n < fewest {
			best, fewest = c, n
		}
	}
	if best != "" || len(name) < 3 {
		return best
	}
	lower := strings.ToLower(name)
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), lower) {
			return c
		}
	}
	return ""
}

// Hint returns `; did you mean "NEAREST"?`, or "" if no candidate is near.
func Hint(name string, candidates []string) string {
	if nearest := Nearest(name, candidates); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return ""
}

// Sentence is Hint for a message that goes on: without a candidate it is ".".
func Sentence(name string, candidates []string) string {
	return cmp.Or(Hint(name, candidates), ".")
}

// edits returns the number of inserted, deleted and replaced letters between two
// names, ignoring case. One swap of neighbours counts as one edit.
func edits(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	fewest := levenshtein.ComputeDistance(a, b)
	letters := []rune(a)
	for i := 1; i < len(letters) && fewest > 1; i++ {
		letters[i-1], letters[i] = letters[i], letters[i-1]
		fewest = min(fewest, 1+levenshtein.ComputeDistance(string(letters), b))
		letters[i-1], letters[i] = letters[i], letters[i-1]
	}
	return fewest
}
