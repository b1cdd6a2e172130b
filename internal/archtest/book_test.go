package archtest

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// mostWords is how long a decision may be.
const mostWords = 400

// TestDecisionsAreShort: a decision has a page of its own, and the log what was tried.
func TestDecisionsAreShort(t *testing.T) {
	n := 0
	for _, file := range files(t, ".md") {
		if filepath.Dir(file) != "docs/decisions" || filepath.Base(file) == "README.md" {
			continue
		}
		n++
		if w := words(read(t, file)); w > mostWords {
			t.Errorf("%s has %d words, more than %d; measurements and history go to docs/log", file, w, mostWords)
		}
	}
	if n < 10 {
		t.Errorf("only %d decisions were found", n)
	}
}

// words counts the words of a text: what stands between spaces and has a letter or digit.
func words(text string) (n int) {
	for _, w := range strings.Fields(text) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}
