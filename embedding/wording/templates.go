package wording

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// place is where a template has the name.
const place = "{}"

// maxTemplates and maxTemplate bound the number of templates and their bytes.
const (
	maxTemplates = 100
	maxTemplate  = 1000
)

// Templates are sentences with {} for the name of a class, such as networks of photos and
// texts have learned from.
//
// A class of which only the name is known has one sentence for each template; the mean of
// their embeddings stands for it (Radford et al. 2021, section 3.1.4). Names are those of
// folders, so they are cleaned first: 007-Golden_Retriever is Golden Retriever to a reader.
type Templates []string

// DefaultTemplates returns templates for photos of any kind.
func DefaultTemplates() Templates {
	return Templates{
		"a photo of a {}.",
		"a picture that shows the {}.",
		"a close view of a {}.",
		"a {} seen from far away.",
		"a dark photo of a {}.",
		"a bright photo of the {}.",
		"a {} among other things.",
	}
}

// Validate returns an error that names the first template that cannot be used.
func (t Templates) Validate() error {
	if len(t) == 0 || len(t) > maxTemplates {
		return fmt.Errorf("templates: there are %d, not 1 to %d", len(t), maxTemplates)
	}
	for _, one := range t {
		switch {
		case strings.Count(one, place) != 1:
			return fmt.Errorf("templates: %q does not have %s once, for the name of the class", one, place)
		case len(one) > maxTemplate:
			return fmt.Errorf("templates: one has %d bytes, more than %d", len(one), maxTemplate)
		}
	}
	return nil
}

// Sentences returns the texts of classes, and the class of each: a text that is given as it
// is, and for a name alone one sentence for each template.
func (t Templates) Sentences(described []dataset.Description) (classes, texts []string, err error) {
	if len(t) == 0 {
		t = DefaultTemplates()
	}
	if len(described)*len(t) > maxSentences {
		return nil, nil, errors.New("too many classes and templates")
	}
	for _, d := range described {
		if d.Text != "" {
			classes, texts = append(classes, d.Class), append(texts, d.Text)
			continue
		}
		for _, one := range t {
			classes, texts = append(classes, d.Class), append(texts, strings.Replace(one, place, readable(d.Class), 1))
		}
	}
	return classes, texts, nil
}

// maxSentences bounds those of a file.
const maxSentences = 1 << 20

// What folders have before a name: the number of a WordNet synset, or one that counts.
var (
	synset  = regexp.MustCompile(`^n\d{8}[-_. ]+`)
	counted = regexp.MustCompile(`^(\d+[_.]|0\d*[- ]|\d{3,}[- ])[-_. ]*`)
)

// readable returns the name of a class as a person would write it: the last part of a path,
// without numbers in front, with spaces between its words. What is nothing but numbers
// stays as it is.
func readable(class string) string {
	name := strings.TrimSpace(class)
	if last := path.Base(strings.ReplaceAll(name, `\`, "/")); len(last) > 1 { // F-16A/B is no path
		name = last
	}
	if rest := synset.ReplaceAllString(name, ""); beginsWithLetter(rest) {
		name = rest
	}
	if rest := counted.ReplaceAllString(name, ""); beginsWithLetter(rest) {
		name = rest
	}
	var words []string
	for word := range strings.FieldsSeq(strings.ReplaceAll(name, "_", " ")) {
		words = append(words, strings.Join(humps(unhyphenated(word)), " "))
	}
	spaced := strings.Join(words, " ")
	if spaced != "" && strings.IndexFunc(spaced, isWord) >= 0 {
		return spaced
	}
	return class
}

func beginsWithLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) == 0 }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// unhyphenated puts spaces for hyphens between words of letters, but not in t-shirt.
func unhyphenated(word string) string {
	parts := strings.Split(word, "-")
	for _, part := range parts {
		letters := []rune(part)
		if len(letters) < 2 || strings.IndexFunc(part, unicode.IsNumber) >= 0 {
			return word
		}
	}
	return strings.Join(parts, " ")
}

// humps splits GoldenRetriever, but not McDonald or iPhone, of which a part has fewer than
// three letters.
func humps(word string) []string {
	letters := []rune(word)
	var parts []string
	start := 0
	for i := 1; i < len(letters); i++ {
		before, here := letters[i-1], letters[i]
		begins := unicode.IsLower(before) && unicode.IsUpper(here) ||
			unicode.IsUpper(before) && unicode.IsUpper(here) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if begins && i-start >= 3 && len(letters)-i >= 2 {
			parts = append(parts, string(letters[start:i]))
			start = i
		}
	}
	return append(parts, string(letters[start:]))
}
