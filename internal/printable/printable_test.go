package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		`C:\Photos\a "b".jpg`:   `C:\Photos\a "b".jpg`,
		"Äpfel\u00a0von 1999":   "Äpfel\u00a0von 1999",
		"خانه\u200cها 👩\u200d🌾": "خانه\u200cها 👩\u200d🌾",
		"a\x1b[31mred":          `a\x1b[31mred`,
		"b\u202egnp.exe":        `b\u202egnp.exe`,
		"\u2066a\u200f":         `\u2066a\u200f`,
		"two\nlines\r\t\a":      `two\nlines\r\t\a`,
		"one\u2028two\u0085":    `one\u2028two\u0085`,
		"caf\xe9":               `caf\xe9`,
		"\ufffd":                "\ufffd",
		"\ufeffa":               `\ufeffa`,
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := Lines("a\x1b\nb\r\n"); got != "a\\x1b\nb\\r\n" {
		t.Errorf("%q", got)
	}
}

// FuzzText: whatever the text, what is shown is valid, of one line, and without controls;
// showing that again changes nothing.
func FuzzText(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := Text(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}) {
			t.Errorf("%q is shown as %q", text, got)
		}
		if again := Text(got); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	})
}
