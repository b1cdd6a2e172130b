package dataset

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscapePath(t *testing.T) {
	for name, want := range map[string]string{
		"plain/é.jpg": "plain/é.jpg", "100%.jpg": "100%.jpg", "a%20b": "a%20b", "%": "%", "%%": "%%", "%f": "%f",
		"caf\xe9": "caf%E9", "caf%E9": "caf%25E9", "caf%e9": "caf%e9", "%25": "%2525", "%\xff": "%%FF",
		"%2\xff": "%2%FF", "a\nb": "a\nb", "a\r\nb": "a%0D\nb", "a%0Db": "a%250Db", "\r": "%0D",
		"\x1b[31m": "%1B[31m", "%1B": "%251B",
		"\x7f\u009b\x00": "%7F%C2%9B%00", "\t": "\t", "%09%0A": "%09%0A", "\ufffd": "\ufffd",
		"\xed\xa0\x80": "%ED%A0%80", "\xe2\x82": "%E2%82", "%\r\n": "%%0D\n",
	} {
		if got := EscapePath(name); got != want {
			t.Errorf("EscapePath(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSafeCell(t *testing.T) {
	seen := map[string]string{}
	for _, cell := range []string{
		"", "a", "'a", "=a", "'=a", "''=a", "-", "'-", "'", "''", "\ta", "'\ta", "a=", "'a=",
	} {
		safe := SafeCell(cell)
		if other, twice := seen[safe]; twice {
			t.Errorf("%q and %q are both written as %q", other, cell, safe)
		}
		seen[safe] = cell
		if back := plainCell(safe); back != cell {
			t.Errorf("%q → %q → %q", cell, safe, back)
		}
		if safe != "" && strings.Contains("=+-@\t", safe[:1]) {
			t.Errorf("%q is still a formula", safe)
		}
	}
}

func FuzzEscapePath(f *testing.F) {
	for _, s := range []string{"a%25\xff", "%%0D\r\n", "\x80%80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text := EscapePath(name)
		if !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
			t.Fatalf("%q → %q is not UTF-8", name, text)
		}
		if back := UnescapePath(text); back != name {
			t.Fatalf("%q → %q → %q", name, text, back)
		}
	})
}
