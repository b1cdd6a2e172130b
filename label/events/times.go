package events

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// clockTime is a time of day: hours of one digit need a separator, and a letter for the half of the day
// may follow after a space, also the narrow one that macOS writes.
const clockTime = `(?:(\d\d)[-_.:h]?|(\d)[-_.:h])(\d\d)[-_.:m]?(\d\d)(?:[.,]?(\d{3}))?` +
	`(?:[\s\x{a0}\x{202f}]?([AaPp])\.?[Mm]\b)?`

// timeInName matches a date and a time of day, as in IMG_20250614_101112.jpg,
// PXL_20250614_101112345.jpg or WhatsApp Image 2025-06-14 at 9.11.12 PM.jpeg.
var timeInName = regexp.MustCompile(`(?:^|[^0-9])((?:19|20)\d\d)[-_.]?(\d\d)[-_.]?(\d\d)` +
	`(?:[-_ T.]|[-_ ]at[-_ ])?` + clockTime + `(?:[^0-9]|$)`)

// timeIn returns the time in a file's name, zero if it has none.
func timeIn(name string) time.Time {
	m := timeInName.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}
	}
	return timeFrom(m[1], m[2], m[3], m[4]+m[5], m[6], m[7], m[8], m[9])
}

// timeFrom returns a time of which the parts are digits, zero if there is no such time. The half of the
// day is A, P, or "" for a clock of 24 hours.
func timeFrom(year, month, day, hour, minute, second, fraction, half string) time.Time {
	var v [6]int
	for i, text := range []string{year, month, day, hour, minute, second} {
		v[i], _ = strconv.Atoi(text) // digits, or nothing
	}
	if half != "" {
		if v[3] < 1 || v[3] > 12 {
			return time.Time{}
		}
		v[3] %= 12
		if strings.EqualFold(half, "P") {
			v[3] += 12
		}
	}
	after, _ := time.ParseDuration("0." + fraction + "s") // of digits, or nothing, it is one
	t := time.Date(v[0], time.Month(v[1]), v[2], v[3], v[4], v[5], int(after), time.UTC)
	if int(t.Month()) != v[1] || t.Day() != v[2] || t.Hour() != v[3] || t.Minute() != v[4] || t.Second() != v[5] {
		return time.Time{}
	}
	return t
}

// dates are those that can be read in one way only: with the year first, with a point after the day, with
// the month as a word. 5/1/2024 is of May in one country and of January in others. Names of weekdays may
// come before.
var dates = regexp.MustCompile(`^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:` +
	`(?P<y>\d{4})[-/:.](?P<m>\d\d?)[-/:.](?P<d>\d\d?)|(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)|` +
	`(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})|(?P<d>\d\d?)[-/ ](?P<n>[A-Za-z]{3,9})[-/ ](?P<y>\d{4})|` +
	`(?P<n>[A-Za-z]{3,9}) (?P<d>\d\d?),? (?P<y>\d{4})),?[T ]? ?(?:at )?`)

// times are those of a day, with an offset to UTC, or without.
var times = regexp.MustCompile(`^(?P<h>\d\d?):?(?P<i>\d\d)(?::?(?P<s>\d\d)(?:[.,](?P<f>\d{1,9})\d*)?)?` +
	`(?: ?(?P<half>[AaPp])\.?[Mm]\.?)? ?(?P<z>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$`)

// TimeOf returns the time that a list has, zero if it cannot be read or could be several. Seconds since
// 1970 (ten digits, or thirteen with milliseconds) are times, too.
func TimeOf(text string) (t time.Time, zoned bool) {
	text = strings.Join(strings.Fields(text), " ") // spaces of any kind
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		switch len(text) {
		case 10:
			return time.Unix(n, 0).UTC(), true
		case 13:
			return time.UnixMilli(n).UTC(), true
		}
	}
	part := map[string]string{}
	rest, ok := matched(dates, text, part)
	if !ok {
		return time.Time{}, false
	}
	if _, ok := matched(times, rest, part); !ok {
		return time.Time{}, false
	}
	if name := part["n"]; name != "" {
		month, err := time.Parse("Jan", name[:3])
		if err != nil || !strings.HasPrefix(strings.ToLower(month.Month().String()), strings.ToLower(name)) {
			return time.Time{}, false
		}
		part["m"] = strconv.Itoa(int(month.Month()))
	}
	t = timeFrom(part["y"], part["m"], part["d"], part["h"], part["i"], part["s"], part["f"], part["half"])
	if t.IsZero() {
		return t, false
	}
	return photometa.InZone(t, part["z"])
}

// matched stores what the groups of a pattern match, and returns what follows.
func matched(pattern *regexp.Regexp, text string, part map[string]string) (rest string, ok bool) {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	for i, name := range pattern.SubexpNames() {
		if m[i] != "" {
			part[name] = m[i]
		}
	}
	return text[len(m[0]):], true
}
