package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/label/metrics"
)

// headline is a large number at the top of the page.
type headline struct{ Value, Label, Hint string }

func figure(v float64) string {
	if !isNumber(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// headlines returns the numbers that a reader looks for first.
func headlines(p Page) []headline {
	out := accuracyFigures(p)
	if n := max(p.Summary.Labelled, p.total()); n > 0 {
		out = append(out, headline{count(n), "images labelled", throughput(n, p.Summary)})
	}
	sizes := p.sizes()
	if n := sizes[rejected]; n > 0 {
		out = append(out, headline{count(n), "rejected", "probably none of the classes"})
	}
	if n := sizes[uncertain]; n > 0 {
		out = append(out, headline{count(n), "uncertain", "top two classes within " + percent(p.uncertainMargin())})
	}
	if failed := max(p.Summary.Failed, len(p.Errors)); failed > 0 {
		out = append(out, headline{count(failed), "failed", "reasons below"})
	}
	return out
}

func throughput(n int, s Summary) string {
	if s.Elapsed <= 0 {
		return ""
	}
	perSecond := float64(n) / s.Elapsed.Seconds()
	return "in " + duration(s.Elapsed) + ", " + strconv.FormatFloat(perSecond, 'f', 1, 64) + " per second"
}

func accuracyFigures(p Page) []headline {
	e := p.Evaluation
	if e == nil {
		return nil
	}
	hint := "on " + plural(e.N, "image", "images") + " of known classes"
	if e.NLearned > 0 {
		hint += fmt.Sprintf(", of which %s were learned: too good", count(e.NLearned))
	}
	if p.sizes()[rejected] > 0 {
		hint += ", ignoring rejection"
	}
	out := []headline{{percent(e.Accuracy), "accuracy", hint}}
	base, fresh := splitAccuracy(e, p.Classes)
	if fresh.n > 0 && base.n > 0 {
		out = append(out,
			headline{percent(base.share()), "on base classes", plural(base.n, "image", "images")},
			headline{percent(fresh.share()), "on new classes", plural(fresh.n, "image", "images")})
	}
	if e.NoveltyAUROC != nil {
		out = append(out, headline{percent(*e.NoveltyAUROC), "novelty AUROC", "known vs unknown classes"})
	}
	return append(out, headline{percent(e.ECE), "calibration error", "expected (ECE); 0 is perfect"})
}

// tally counts correct predictions.
type tally struct{ right, n int }

func (t tally) share() float64 { return float64(t.right) / float64(t.n) }

func splitAccuracy(e *metrics.Report, classes []Class) (base, fresh tally) {
	isNew := newNames(classes)
	for i, row := range e.Confusion {
		t := &base
		if isNew[e.Classes[i]] {
			t = &fresh
		}
		t.right += row[i]
		t.n += sum(slices.Values(row))
	}
	return base, fresh
}

func newNames(classes []Class) map[string]bool {
	isNew := map[string]bool{}
	for _, c := range classes {
		isNew[c.Name] = c.New
	}
	return isNew
}

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
