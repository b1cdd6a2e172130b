package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// The exit codes are part of the command-line interface.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPartial     = 3
	exitInterrupted = 130
)

// A usageError reports a wrong command line or configuration.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// A partialError reports that the work is done except for some inputs.
type partialError struct {
	failed int
	file   string
}

func (e partialError) Error() string {
	return fmt.Sprintf("%d of the inputs failed; %s says why", e.failed, e.file)
}

func exitCode(err error) int {
	var usage usageError
	var settings *embed.SettingsError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &settings):
		return exitUsage
	case isPartial(err):
		return exitPartial
	}
	return exitFailed
}

// isPartial reports whether err is a partialError. It does not unwrap joined
// errors: a partial run that then fails to close the cache, say, has failed.
func isPartial(err error) bool {
	_, ok := err.(partialError)
	return ok
}

func message(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted; nothing is lost: run the same command again to continue"
	case isPartial(err):
		return "warning: " + err.Error()
	}
	return "error: " + err.Error()
}

// coloured reports whether a person reads w and does not ask for no colours with
// NO_COLOR (no-color.org).
func coloured(w io.Writer) bool {
	return atTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

const (
	red    = "\x1b[1;31m"
	green  = "\x1b[32m"
	yellow = "\x1b[1;33m"
	plain  = "\x1b[0m"
)

// paint colours the first word of a message for w, if that is coloured.
func paint(w io.Writer, message string) string {
	if !coloured(w) {
		return message
	}
	for word, colour := range map[string]string{"error:": red, "✗": red, "warning:": yellow, "✓": green} {
		if rest, ok := strings.CutPrefix(message, word); ok {
			return colour + word + plain + rest
		}
	}
	return message
}

// atTerminal reports whether a person reads w.
func atTerminal(w io.Writer) bool {
	if c, ok := w.(*checkedWriter); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// arguments turns cobra's error about the number of arguments into a usage error
// that shows how to call the command.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%s: %w\nusage: %s", cmd.CommandPath(), err, cmd.UseLine())
		}
		return nil
	}
}

// noArguments is cobra.NoArgs for a command that is not a group: what looks like
// a command to cobra is probably a folder whose flag is missing.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if cmd.Flags().Lookup("images") != nil {
		hint = fmt.Sprintf("; for a folder of images, write --images %s", args[0])
	}
	return usagef("%s: unexpected argument %q%s\nusage: %s", cmd.CommandPath(), args[0], hint, cmd.UseLine())
}

// wrongFlag adds a hint to an error about a flag: the nearest name if the flag is
// unknown, and how to get help. A flag after a mistyped command is not the
// error: the command is.
func wrongFlag(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return knownCommand(cmd, cmd.Flags().Args())
	}
	hint := "see " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		names := []string{"help"}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if nearest := suggest.Nearest(unknown.GetSpecifiedName(), names); nearest != "" {
			hint = fmt.Sprintf("did you mean --%s? %s", nearest, hint)
		}
	}
	return usagef("%s: %w; %s", cmd.CommandPath(), err, hint)
}
