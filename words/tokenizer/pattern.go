package tokenizer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A pattern is a string or a regular expression.
type pattern struct {
	String *string
	Regex  *string
}

// maxPattern bounds the length of a pattern.
const maxPattern = 1 << 12

func (p pattern) compile() (*regexp.Regexp, error) {
	var text string
	switch {
	case p.String != nil:
		text = regexp.QuoteMeta(*p.String)
	case p.Regex != nil:
		translated, err := translate(*p.Regex)
		if err != nil {
			return nil, fmt.Errorf("the regular expression %q: %w", *p.Regex, err)
		}
		text = translated
	default:
		return nil, errors.New("a pattern is neither a String nor a Regex")
	}
	if len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes is too long", len(text))
	}
	find, err := regexp.Compile(text)
	if err == nil && find.MatchString("") {
		err = fmt.Errorf("the pattern %q matches nothing at all", text)
	}
	return find, err
}

// The inside of the classes that \s and \d mean in Oniguruma: Unicode's, not ASCII's.
const (
	spaces = `\t-\r\x{85}\p{Z}`
	digits = `\p{Nd}`
)

// translate returns an expression of Oniguruma (in Ruby's syntax) in Go's. What has no
// counterpart, or another meaning, is an error.
func translate(expression string) (string, error) {
	var out strings.Builder
	inClass := false
	for rest := expression; rest != ""; {
		n := 1
		part := rest[:n]
		switch {
		case rest[0] == '\\':
			var err error
			if part, n, err = escape(rest, inClass); err != nil {
				return "", err
			}
		case inClass && rest[0] == ']':
			inClass = false
		case inClass && (rest[0] == '[' || strings.HasPrefix(rest, "&&")):
			return "", errors.New("classes inside classes are not supported")
		case inClass:
		case rest[0] == '[':
			inClass = true
			if strings.HasPrefix(rest, "[^") {
				n = 2
			}
			if part = rest[:n]; strings.HasPrefix(rest[n:], "]") {
				return "", errors.New("a class that begins with ] is not supported")
			}
		case rest[0] == '^' || rest[0] == '$' || strings.HasPrefix(rest, "(?") && !strings.HasPrefix(rest, "(?:"):
			return "", fmt.Errorf("%q is not supported", rest[:min(2, len(rest))])
		}
		out.WriteString(part)
		rest = rest[n:]
	}
	return out.String(), nil
}

// escape translates what follows a backslash, and returns its length with it.
func escape(rest string, inClass bool) (translated string, n int, err error) {
	if len(rest) < 2 {
		return "", 0, errors.New("it ends with a backslash")
	}
	class := func(inside string) string {
		if inClass {
			return inside
		}
		return "[" + inside + "]"
	}
	switch c := rest[1]; {
	case c == 's':
		return class(spaces), 2, nil
	case c == 'd':
		return class(digits), 2, nil
	case c == 'S' && !inClass:
		return "[^" + spaces + "]", 2, nil
	case c == 'p' || c == 'P':
		if end := strings.IndexByte(rest, '}'); end > 3 && rest[2] == '{' && rest[3] != '^' {
			return rest[:end+1], end + 1, nil
		}
	case strings.IndexByte("nrtfv", c) >= 0, c < utf8.RuneSelf && !isAlphanumeric(c):
		return rest[:2], 2, nil
	}
	return "", 0, fmt.Errorf("%q is not supported", rest[:2])
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
