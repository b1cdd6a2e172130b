package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites a text.
type normalizer func(text string) string

func same(text string) string { return text }

func readNormalizer(part json.RawMessage, depth int) (normalizer, error) {
	if absent(part) {
		return same, nil
	}
	name, err := kind(part)
	if err != nil {
		return nil, err
	}
	switch name {
	case "NFC":
		return composed(norm.NFC), nil
	case "NFD":
		return composed(norm.NFD), nil
	case "NFKC":
		return composed(norm.NFKC), nil
	case "NFKD":
		return composed(norm.NFKD), nil
	case "Lowercase":
		return lowercase, nil
	case "Strip":
		return readStrip(part)
	case "Replace":
		return readReplace(part)
	case "Prepend":
		return readPrepend(part)
	case "Precompiled":
		return readPrecompiled(part)
	case "Sequence":
		return readNormalizers(part, depth)
	}
	return nil, unsupported(name)
}

func readNormalizers(part json.RawMessage, depth int) (normalizer, error) {
	var list struct {
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if depth >= maxDepth {
		return nil, errDepth
	}
	if err := json.Unmarshal(part, &list); err != nil {
		return nil, err
	}
	var all []normalizer
	for _, one := range list.Normalizers {
		n, err := readNormalizer(one, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return func(text string) string {
		for _, n := range all {
			text = clipped(n(text))
		}
		return text
	}, nil
}

// maxNormalized bounds a text that replacements make longer and longer.
const maxNormalized = 16 * MaxText

func clipped(text string) string {
	if len(text) <= maxNormalized {
		return text
	}
	return strings.ToValidUTF8(text[:maxNormalized], "")
}

// lowercase maps each character by itself; only İ becomes two.
func lowercase(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, "İ", "i\u0307"))
}

func readStrip(part json.RawMessage) (normalizer, error) {
	var s struct {
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}
	if err := json.Unmarshal(part, &s); err != nil {
		return nil, err
	}
	return func(text string) string {
		if s.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if s.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}, nil
}

func readReplace(part json.RawMessage) (normalizer, error) {
	var r struct {
		Pattern pattern `json:"pattern"`
		Content string  `json:"content"`
	}
	if err := json.Unmarshal(part, &r); err != nil {
		return nil, err
	}
	find, err := r.Pattern.compile()
	if err == nil {
		err = checkLength(r.Content)
	}
	if err != nil {
		return nil, err
	}
	return func(text string) string { return find.ReplaceAllLiteralString(text, r.Content) }, nil
}

func readPrepend(part json.RawMessage) (normalizer, error) {
	var p struct {
		Prepend string `json:"prepend"`
	}
	if err := json.Unmarshal(part, &p); err != nil {
		return nil, err
	}
	return func(text string) string {
		if text == "" {
			return ""
		}
		return p.Prepend + text
	}, nil
}

// composed returns the normalizer of a form of Unicode. norm itself inserts a character
// into runs of more than 30 combining marks, which tokenizers do not.
func composed(form norm.Form) normalizer {
	decompose := norm.NFD
	if form == norm.NFKC || form == norm.NFKD {
		decompose = norm.NFKD
	}
	return func(text string) string {
		if form.IsNormalString(text) {
			return text
		}
		var runes []rune
		for _, r := range text {
			runes = append(runes, []rune(decompose.String(string(r)))...)
		}
		order(runes)
		if form == norm.NFC || form == norm.NFKC {
			runes = compose(runes)
		}
		return string(runes)
	}
}

// combining returns the canonical combining class.
func combining(r rune) uint8 { return norm.NFD.PropertiesString(string(r)).CCC() }

// order sorts combining marks by their class, within each run of marks.
func order(runes []rune) {
	classes := make([]uint8, len(runes))
	for i, r := range runes {
		classes[i] = combining(r)
	}
	for first := 0; first < len(runes); first++ {
		last := first
		for last < len(runes) && classes[last] != 0 {
			last++
		}
		sortMarks(runes[first:last], classes[first:last])
		first = last
	}
}

// sortMarks sorts stably; a class has only 255 values.
func sortMarks(marks []rune, classes []uint8) {
	var by [256][]rune
	for i, r := range marks {
		by[classes[i]] = append(by[classes[i]], r)
	}
	at := 0
	for _, some := range by {
		at += copy(marks[at:], some)
	}
}

// compose joins characters with the marks that follow them (Unicode Standard Annex 15,
// D117), in place.
func compose(runes []rune) []rune {
	out := runes[:0]
	starter, last := -1, uint8(0) // index in out, and the class before
	for _, r := range runes {
		class := combining(r)
		blocked := starter < 0 || len(out)-1 > starter && (last >= class || last == 0)
		if !blocked {
			if joined, ok := pair(out[starter], r); ok {
				out[starter] = joined
				continue
			}
		}
		if class == 0 {
			starter = len(out)
		}
		last = class
		out = append(out, r)
	}
	return out
}

// pair returns the character that two compose to.
func pair(a, b rune) (rune, bool) {
	if joined := []rune(norm.NFC.String(string([]rune{a, b}))); len(joined) == 1 {
		return joined[0], true
	}
	return 0, false
}
