package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/printable"
)

// remarks is the log for a person at a terminal: sentences without time, a remark
// or warning a line, with its attributes in brackets. A log that a program or a file
// gets keeps slog's form.
type remarks struct {
	out   io.Writer // takes a line at a time
	level slog.Leveler
	attrs []slog.Attr
	group string // before the keys of attributes
}

func (r remarks) Enabled(_ context.Context, level slog.Level) bool { return level >= r.level.Level() }

func (r remarks) Handle(_ context.Context, said slog.Record) error {
	word := "note:"
	switch {
	case said.Level >= slog.LevelError:
		word = "error:"
	case said.Level >= slog.LevelWarn:
		word = "warning:"
	}
	attrs := slices.Clone(r.attrs)
	said.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, slog.Attr{Key: r.group + a.Key, Value: a.Value})
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
	_, err := fmt.Fprintln(r.out, paint(r.out, printable.Text(word+" "+line+cause)))
	return err
}

func (r remarks) WithAttrs(attrs []slog.Attr) slog.Handler {
	r.attrs = slices.Clone(r.attrs)
	for _, a := range attrs {
		r.attrs = append(r.attrs, slog.Attr{Key: r.group + a.Key, Value: a.Value})
	}
	return r
}

func (r remarks) WithGroup(name string) slog.Handler {
	r.group += name + " "
	return r
}
