package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// How many words a decision and an item of the changelog may have.
const (
	mostWords       = 400
	mostWordsOfItem = 25
)

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

// changelogItem is an entry of the changelog, with the lines that go on below it.
var changelogItem = regexp.MustCompile(`(?m)^- .*(?:\n  \S.*)*`)

// TestChangesAreShort: the changelog is for people who want to know whether a change
// concerns them.
func TestChangesAreShort(t *testing.T) {
	items := changelogItem.FindAllString(read(t, "CHANGELOG.md"), -1)
	if len(items) < 100 {
		t.Errorf("only %d items were found", len(items))
	}
	for _, item := range items {
		if w := words(item); w > mostWordsOfItem {
			t.Errorf("an item of the changelog has %d words, more than %d: %s", w, mostWordsOfItem, item)
		}
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

var (
	// history matches what pages say of the past; such words are the log's.
	history = regexp.MustCompile(`→|[Ee]verything else on this page|\bfrom before\b|\bas it was then\b` +
		`|\b[Ss]ince then\b|\bmeasured again\b|\bnot done yet\b|\b[Uu]ntil (after )?0\.\d` +
		`|\bin an? (earlier|former) version\b|\b(is|are|has|have|does) now\b|\bnow (is|are|has|have|does)\b`)
	// tellsHistory are the documents that may.
	tellsHistory = regexp.MustCompile(`^(CHANGELOG\.md$|docs/log/|docs/cli/)`)
)

// TestPagesSayWhatIsTrueNow: how something was, and how figures moved, is in docs/log.
func TestPagesSayWhatIsTrueNow(t *testing.T) {
	for _, file := range files(t, ".md") {
		if tellsHistory.MatchString(file) {
			continue
		}
		text := literal.ReplaceAllString(document(t, filepath.Join(root, file)), "")
		for _, said := range history.FindAllString(text, -1) {
			t.Errorf("%s says %q: a page says what is true now, docs/log what was", file, said)
		}
	}
}
