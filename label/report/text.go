package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// showName makes any file or class name readable: bytes that are not UTF-8 are
// percent-escaped as in labels.csv, and characters that are invisible or change
// the direction of text are written as escapes such as \u202e. Markup is
// escaped later, by html/template.
func showName(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%%%02X", name[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, "\\U%08x", r)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
		name = name[size:]
	}
	return b.String()
}

// percent formats a share as 93.8%, and NaN as a dash.
func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "–"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + "%"
}

// barWidth formats a share as a CSS length, clamped to the bar.
func barWidth(share float64) string {
	if !(share > 0) {
		return "0%"
	}
	return strconv.FormatFloat(100*min(share, 1), 'f', 1, 64) + "%"
}

// count formats 12345 as 12,345.
func count(n int) string {
	digits := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for at := len(digits) - 3; at > start; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// plural formats "1 image" or "2 images".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// duration rounds to about three digits.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
