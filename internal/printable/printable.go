// Package printable shows names that people have not chosen, those of files and classes, to
// people: without what moves the cursor, changes colours, begins a line or turns the
// direction of a terminal.
package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text returns a text with everything escaped that is not a visible character or a space,
// as in a string of Go: "\n", "\x1b", "\u202e", and "\xff" for what is not UTF-8. Nearly
// every text is unchanged.
func Text(text string) string { return escape(text, "") }

// Lines is Text for several lines.
func Lines(text string) string { return escape(text, "\n") }

func escape(text, kept string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !shows(r) }) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		one := text[:size]
		text = text[size:]
		if shows(r) && (r != utf8.RuneError || size > 1) || strings.ContainsRune(kept, r) {
			b.WriteString(one)
			continue
		}
		quoted := strconv.Quote(one)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// shows reports whether a character is visible or a space, or joins its neighbours, as in
// emoji and Persian.
func shows(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return strconv.IsGraphic(r) || r == nonJoiner || r == joiner
}
