package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An addedToken is found in a text before the model sees it.
type addedToken struct {
	ID      int64  `json:"id"`
	Content string `json:"content"`
	// SingleWord tokens are not found inside words.
	SingleWord bool `json:"single_word"`
	// LStrip and RStrip tokens take white space before and after with them.
	LStrip bool `json:"lstrip"`
	RStrip bool `json:"rstrip"`
	// Normalized tokens are found in the normalized text, the others before.
	Normalized bool `json:"normalized"`
}

// added are the tokens that a file adds to those of its model.
type added struct {
	ids                map[string]int32 // by content
	before, normalized finder
}

// A finder finds tokens in a text: the leftmost first, and of those the longest.
type finder struct {
	tokens map[string]addedToken // by what is found
	names  prefixes
}

func newAdded(tokens []addedToken, normalize normalizer, m model) (added, error) {
	a := added{ids: map[string]int32{}}
	before, after := map[string]addedToken{}, map[string]addedToken{}
	if len(tokens) > maxTokens {
		return a, fmt.Errorf("there are %d: more than %d", len(tokens), maxTokens)
	}
	for _, t := range tokens {
		if err := checkID(t.ID, t.Content); err != nil {
			return a, err
		}
		if err := checkLength(t.Content); err != nil {
			return a, err
		}
		if id, ok := m.id(t.Content); ok && int64(id) != t.ID {
			return a, fmt.Errorf("token %q has the number %d, but %d in the model", t.Content, t.ID, id)
		}
		switch a.ids[t.Content] = int32(t.ID); {
		case t.Normalized:
			after[normalize(t.Content)] = t
		default:
			before[t.Content] = t
		}
	}
	a.before, a.normalized = newFinder(before), newFinder(after)
	return a, nil
}

func newFinder(tokens map[string]addedToken) finder {
	var names []string
	for name := range tokens {
		names = append(names, name)
	}
	return finder{tokens, newPrefixes(names)}
}

func (a added) id(token string) (int32, bool) {
	id, ok := a.ids[token]
	return id, ok
}

// A section of a text is an added token, or normalized text between such tokens.
type section struct {
	text  string
	id    int32
	token bool
}

// sections returns those of a text.
func (a added) sections(text string, normalize normalizer) []section {
	var all []section
	for _, s := range a.before.split(text) {
		if s.token {
			all = append(all, s)
		} else {
			all = append(all, a.normalized.split(normalize(s.text))...)
		}
	}
	return all
}

func (f finder) split(text string) []section {
	var all []section
	done := 0 // up to where sections reach
	for at := 0; at < len(text) && len(f.names) > 0; {
		n := f.names.longest(text[at:])
		if n == 0 {
			at++
			continue
		}
		start, stop := at, at+n
		t := f.tokens[text[start:stop]]
		at = stop
		if t.SingleWord && (endsWithWord(text[:start]) || startsWithWord(text[stop:])) {
			continue
		}
		if t.LStrip {
			start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if t.RStrip {
			stop = len(text) - len(strings.TrimLeftFunc(text[stop:], unicode.IsSpace))
		}
		if done < start {
			all = append(all, section{text: text[done:start]})
		}
		all = append(all, section{id: int32(t.ID), token: true})
		done = stop
	}
	if done < len(text) {
		all = append(all, section{text: text[done:]})
	}
	return all
}

func endsWithWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && isWord(r)
}

func startsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && isWord(r)
}

// isWord reports whether a regular expression's \w matches.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.Is(unicode.M, r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r) ||
		unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Other_Alphabetic, r) || unicode.Is(unicode.Join_Control, r)
}
