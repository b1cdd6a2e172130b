package dataset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// EscapePath writes a file name, which may be any bytes, as valid UTF-8 text.
// Nearly every name is unchanged. Three things are written as "%XX" (upper case
// hex):
//
//   - a byte that is not part of valid UTF-8,
//   - a control character, which terminals obey and XML forbids, other than a tab
//     and a line feed,
//   - a "%" that would otherwise be read as one of these or as "%25".
//
// So "100%.jpg" and "a%20b.jpg" are unchanged, "caf\xe9.jpg" becomes
// "caf%E9.jpg", and a file really called "caf%E9.jpg" becomes "caf%25E9.jpg".
// UnescapePath restores the exact bytes.
func EscapePath(name string) string {
	if !needsEscape(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		for _, c := range []byte(name[i : i+size]) {
			if escapedAt(name[i:], r, size) {
				b.WriteByte('%')
				b.WriteByte(upperHex[c>>4])
				b.WriteByte(upperHex[c&15])
			} else {
				b.WriteByte(c)
			}
		}
		i += size
	}
	return b.String()
}

func needsEscape(name string) bool {
	return !utf8.ValidString(name) || strings.Contains(name, "%") || strings.ContainsFunc(name, isControl)
}

// isControl reports whether a character is one of the 65 control characters, but for those that are at home
// in text.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }

// escapedAt reports whether the first rune of rest is written as %XX.
func escapedAt(rest string, r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return true
	case isControl(r):
		return true
	case r == '%':
		_, ok := escapeCode(rest)
		return ok
	}
	return false
}

// UnescapePath is the inverse of EscapePath: UnescapePath(EscapePath(s)) == s.
// Text that EscapePath would not have written, such as "%20", is unchanged.
func UnescapePath(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c, ok := escapeCode(text[i:])
		if !ok {
			b.WriteByte(text[i])
			continue
		}
		b.WriteByte(c)
		i += 2
	}
	return b.String()
}

// escapeCode reads an escape that EscapePath can write: of a control character, %25, %80–%FF.
func escapeCode(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, lo := strings.IndexByte(upperHex, s[1]), strings.IndexByte(upperHex, s[2])
	if hi < 0 || lo < 0 {
		return 0, false
	}
	c := byte(hi<<4 | lo)
	return c, c == '%' || c >= 0x80 || isControl(rune(c))
}

// SafeCell keeps a spreadsheet from running a cell as a formula: it puts an
// apostrophe before one, and before a cell that already looks like the result.
// Different cells stay different.
func SafeCell(cell string) string {
	if isFormula(cell) {
		return "'" + cell
	}
	return cell
}

// plainCell is the inverse of SafeCell: plainCell(SafeCell(s)) == s.
func plainCell(cell string) string {
	if isFormula(cell) {
		return strings.TrimPrefix(cell, "'")
	}
	return cell
}

// isFormula reports whether a cell is a formula after any apostrophes.
func isFormula(cell string) bool {
	rest := strings.TrimLeft(cell, "'")
	return rest != "" && strings.ContainsRune("=+-@\t\r\n", rune(rest[0]))
}
