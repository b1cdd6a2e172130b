package tokenizer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A splitter splits a text into pieces, which the model sees one by one.
type splitter func(text string) []string

func whole(text string) []string { return []string{text} }

func readSplitter(part json.RawMessage, depth int) (splitter, error) {
	if absent(part) {
		return whole, nil
	}
	name, err := kind(part)
	if err != nil {
		return nil, err
	}
	switch name {
	case "Split":
		return readSplit(part)
	case "ByteLevel":
		return readByteLevel(part)
	case "Metaspace":
		return readMetaspace(part)
	case "WhitespaceSplit":
		return func(text string) []string { return strings.FieldsFunc(text, unicode.IsSpace) }, nil
	case "Sequence":
		return readSplitters(part, depth)
	}
	return nil, unsupported(name)
}

func readSplitters(part json.RawMessage, depth int) (splitter, error) {
	var list struct {
		PreTokenizers []json.RawMessage `json:"pretokenizers"`
	}
	if depth >= maxDepth {
		return nil, errDepth
	}
	if err := json.Unmarshal(part, &list); err != nil {
		return nil, err
	}
	var all []splitter
	for _, one := range list.PreTokenizers {
		s, err := readSplitter(one, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return func(text string) []string {
		pieces := []string{text}
		for _, s := range all {
			var next []string
			for _, piece := range pieces {
				if piece != "" {
					next = append(next, s(piece)...)
				}
			}
			pieces = next
		}
		return pieces
	}, nil
}

// A behaviour says what happens to what a pattern matches.
type behaviour string

const (
	removed            behaviour = "Removed"
	isolated           behaviour = "Isolated"
	mergedWithPrevious behaviour = "MergedWithPrevious"
	mergedWithNext     behaviour = "MergedWithNext"
	contiguous         behaviour = "Contiguous"
)

func readSplit(part json.RawMessage) (splitter, error) {
	var s struct {
		Pattern  pattern   `json:"pattern"`
		Behavior behaviour `json:"behavior"`
		Invert   bool      `json:"invert"`
	}
	if err := json.Unmarshal(part, &s); err != nil {
		return nil, err
	}
	switch s.Behavior {
	case removed, isolated, mergedWithPrevious, mergedWithNext, contiguous:
	default:
		return nil, fmt.Errorf("the behavior %q of Split is not supported", s.Behavior)
	}
	find, err := s.Pattern.compile()
	if err != nil {
		return nil, err
	}
	return func(text string) []string { return cut(text, find, s.Behavior, s.Invert) }, nil
}

// A span of a text is a match of a pattern, or lies between matches.
type span struct {
	start, stop int
	match       bool
}

// cut splits a text at the matches of a pattern; with invert, at what lies between.
func cut(text string, find *regexp.Regexp, how behaviour, invert bool) []string {
	var spans []span
	done := 0
	for _, m := range find.FindAllStringIndex(text, -1) {
		if done < m[0] {
			spans = append(spans, span{done, m[0], invert})
		}
		spans = append(spans, span{m[0], m[1], !invert})
		done = m[1]
	}
	if done < len(text) {
		spans = append(spans, span{done, len(text), invert})
	}
	var pieces []string
	for _, s := range how.merge(spans) {
		pieces = append(pieces, text[s.start:s.stop])
	}
	return pieces
}

func (how behaviour) merge(spans []span) []span {
	if how == removed {
		return slices.DeleteFunc(spans, func(s span) bool { return s.match })
	}
	var out []span
	for i, s := range spans {
		joins := false // the span before
		if i > 0 {
			before := spans[i-1].match
			switch how {
			case mergedWithPrevious:
				joins = s.match && !before
			case mergedWithNext:
				joins = !s.match && before
			case contiguous:
				joins = s.match == before
			}
		}
		if joins {
			out[len(out)-1].stop = s.stop
		} else {
			out = append(out, s)
		}
	}
	return out
}

func readMetaspace(part json.RawMessage) (splitter, error) {
	m := struct {
		Replacement string `json:"replacement"`
		AddPrefix   *bool  `json:"add_prefix_space"`
		Scheme      string `json:"prepend_scheme"`
		Split       *bool  `json:"split"`
	}{Scheme: "always"}
	if err := json.Unmarshal(part, &m); err != nil {
		return nil, err
	}
	if m.AddPrefix != nil && !*m.AddPrefix {
		m.Scheme = "never"
	}
	if utf8.RuneCountInString(m.Replacement) != 1 {
		return nil, fmt.Errorf("the replacement %q of Metaspace is not one character", m.Replacement)
	}
	if m.Scheme != "always" && m.Scheme != "never" {
		return nil, fmt.Errorf("the prepend_scheme %q of Metaspace is not supported", m.Scheme)
	}
	mark := regexp.MustCompile(regexp.QuoteMeta(m.Replacement))
	return func(text string) []string {
		text = strings.ReplaceAll(text, " ", m.Replacement)
		if m.Scheme == "always" && !strings.HasPrefix(text, m.Replacement) {
			text = m.Replacement + text
		}
		if m.Split != nil && !*m.Split {
			return []string{text}
		}
		return cut(text, mark, mergedWithNext, false)
	}, nil
}

func readByteLevel(part json.RawMessage) (splitter, error) {
	b := struct {
		AddPrefix bool `json:"add_prefix_space"`
		UseRegex  bool `json:"use_regex"`
	}{UseRegex: true}
	if err := json.Unmarshal(part, &b); err != nil {
		return nil, err
	}
	letters := byteLetters()
	return func(text string) []string {
		if b.AddPrefix && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		words := []string{text}
		if b.UseRegex {
			words = gpt2Words(text)
		}
		var pieces []string
		for _, word := range words {
			var visible strings.Builder
			for _, c := range []byte(word) {
				visible.WriteRune(letters[c])
			}
			pieces = append(pieces, visible.String())
		}
		return pieces
	}, nil
}

// byteLetters returns a letter that can be seen for every byte, which GPT-2's vocabulary
// has in its place: itself for printable characters of Latin-1, those from U+0100 on for
// the rest.
func byteLetters() (letters [256]rune) {
	next := rune(0x100)
	for b := range letters {
		switch {
		case b >= '!' && b <= '~', b >= 0xA1 && b <= 0xAC, b >= 0xAE:
			letters[b] = rune(b)
		default:
			letters[b] = next
			next++
		}
	}
	return letters
}

// gpt2Words splits a text as GPT-2's expression does, which looks ahead:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Words(text string) []string {
	var words []string
	for text != "" {
		n := contraction(text)
		if n == 0 {
			n = run(text)
		}
		if n == 0 {
			n = gap(text)
		}
		words, text = append(words, text[:n]), text[n:]
	}
	return words
}

// contraction returns the length of one that a text begins with, or 0.
func contraction(text string) int {
	for _, c := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(text, c) {
			return len(c)
		}
	}
	return 0
}

// run returns the length of the characters of one class that a text begins with, perhaps
// after a space; 0 for white space.
func run(text string) int {
	start := 0
	if strings.HasPrefix(text, " ") {
		start = 1
	}
	r, _ := utf8.DecodeRuneInString(text[start:])
	if start == len(text) || unicode.IsSpace(r) {
		return 0
	}
	of := class(r)
	end := strings.IndexFunc(text[start:], func(r rune) bool { return class(r) != of })
	if end < 0 {
		return len(text)
	}
	return start + end
}

// class tells letters, numbers, white space and the rest apart.
func class(r rune) int {
	switch {
	case unicode.IsLetter(r):
		return 1
	case unicode.IsNumber(r):
		return 2
	case unicode.IsSpace(r):
		return 3
	}
	return 0
}

// gap returns the length of the white space that a text begins with; if something follows,
// the last character of several belongs to that.
func gap(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
	if end < 0 {
		return len(text)
	}
	if _, last := utf8.DecodeLastRuneInString(text[:end]); last < end {
		return end - last
	}
	return end
}
