// Package remark is the log for a person: sentences without time, a remark or warning per line,
// with its attributes in brackets.
package remark

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/printable"
)

// handler hands on lines. A log that a program or a file gets keeps slog's form.
type handler struct {
	say   func(line string)
	level slog.Leveler
	attrs []slog.Attr
	group string // before the keys of attributes
}

// New returns a log whose lines are handed to say, in which names are printable.
func New(level slog.Leveler, say func(line string)) *slog.Logger {
	return slog.New(handler{say: say, level: level})
}

func (h handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

func (h handler) Handle(_ context.Context, said slog.Record) error {
	word := "note:"
	switch {
	case said.Level >= slog.LevelError:
		word = "error:"
	case said.Level >= slog.LevelWarn:
		word = "warning:"
	}
	attrs := slices.Clone(h.attrs)
	said.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, slog.Attr{Key: h.group + a.Key, Value: a.Value})
		return true
	})
	var details []string
	cause := ""
	for _, a := range attrs {
		if a.Key == "reason" || a.Key == "error" {
			cause = fmt.Sprintf(": %v", a.Value)
			continue
		}
		details = append(details, fmt.Sprintf("%s: %v", strings.ReplaceAll(a.Key, "_", " "), a.Value))
	}
	line := said.Message
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	h.say(printable.Text(word + " " + line + cause))
	return nil
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		h.attrs = append(h.attrs, slog.Attr{Key: h.group + a.Key, Value: a.Value})
	}
	return h
}

func (h handler) WithGroup(name string) slog.Handler {
	h.group += name + " "
	return h
}
