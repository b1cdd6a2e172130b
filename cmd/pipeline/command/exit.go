package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/research/experiment"
)

// The exit codes are part of the command-line interface.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitPartial     = 3
	ExitInterrupted = 130
)

func usagef(format string, args ...any) error {
	return &pipeline.UsageError{Err: fmt.Errorf(format, args...)}
}

// isFinal reports whether a command failed for another reason than the interruption that ended it.
func isFinal(err error) bool {
	var unsaved *pipeline.UnsavedError
	return errors.As(err, &unsaved)
}

func exitCode(err error) int {
	var usage *pipeline.UsageError
	var settings *embedding.SettingsError
	var input *experiment.InputError
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage), errors.As(err, &settings), errors.As(err, &input):
		return ExitUsage
	case isPartial(err):
		return ExitPartial
	}
	return ExitFailed
}

// isPartial reports whether err is a PartialError. It does not unwrap joined
// errors: a partial run that then fails to close the cache, say, has failed.
func isPartial(err error) bool {
	_, ok := err.(*pipeline.PartialError)
	return ok
}

// message returns what a person reads of the error that ends a command, how bad that is, and a prefix that says so.
func message(err error) (level slog.Level, prefix, text string) {
	switch {
	case errors.Is(err, context.Canceled):
		return slog.LevelWarn, "", "interrupted; nothing is lost: run the same command again to continue"
	case isPartial(err):
		return slog.LevelWarn, "warning: ", err.Error()
	}
	return slog.LevelError, "error: ", phrase.Text(err, func(setting string) string { return "--" + setting })
}

// printError prints the error that ends a command to w, which the log goes to.
func printError(w io.Writer, err error, asJSON bool) {
	level, prefix, text := message(err)
	if !asJSON {
		fmt.Fprintln(w, paint(w, printable.Lines(prefix+text)))
		return
	}
	slog.New(slog.NewJSONHandler(w, nil)).Log(context.Background(), level, text)
}

// logsJSON reports whether the log of a command is JSON: by its settings, or as far as they can be read.
func logsJSON(root *cobra.Command, args []string) bool {
	if root.PersistentFlags().Lookup("log").Value.String() == "json" {
		return true
	}
	given := strings.Join(args, " ")
	return strings.Contains(given, "--log json") || strings.Contains(given, "--log=json") ||
		os.Getenv("PIPELINE_LOG") == "json" && !strings.Contains(given, "--log")
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

// arguments requires those that the command's Use line names before its flags. One
// too many is probably a folder of images whose flag is missing.
func arguments(cmd *cobra.Command, args []string) error {
	names := argumentNames(cmd)
	several := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...")
	switch {
	case len(args) < len(names):
		return usagef("%s: %s is missing\nusage: %s", cmd.CommandPath(), strings.TrimSuffix(names[len(args)], "..."),
			cmd.UseLine())
	case len(args) == len(names), several:
		return nil
	}
	extra, hint := args[len(names)], ""
	switch images := cmd.Flags().Lookup("images"); {
	case images != nil && images.Changed:
		hint = "; put a name with spaces into quotes"
	case strings.Contains(cmd.Use, "--images"):
		if i := slices.IndexFunc(args, dataset.IsFolder); i >= 0 {
			extra = args[i]
		}
		hint = "; for a folder of images, write --images " + asTyped(extra)
	}
	return usagef("%s: unexpected argument %q%s\nusage: %s", cmd.CommandPath(), extra, hint, cmd.UseLine())
}

// asTyped returns a word as it is typed into a shell: in quotes if it would be several.
func asTyped(word string) string {
	if strings.ContainsAny(word, " \t()&;|<>'") {
		return `"` + word + `"`
	}
	return word
}

// argumentNames returns those of the Use line: MODEL, or STATS... for any number.
func argumentNames(cmd *cobra.Command) []string {
	words := strings.Fields(cmd.Use)[1:]
	end := slices.IndexFunc(words,
		func(w string) bool { return strings.ToUpper(w) != w || strings.ContainsAny(w, "-[|") })
	if end < 0 {
		end = len(words)
	}
	return words[:end]
}

// wrongFlag adds a hint to an error about a flag: that it is an argument, or the
// nearest name, if the flag is unknown, and how to get help. A flag after a
// mistyped command is not the error: the command is.
func wrongFlag(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return knownCommand(cmd, cmd.Flags().Args())
	}
	hint := "see " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name, names := unknown.GetSpecifiedName(), []string{"help"}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = initial(names, short[:1])
		}
		if argument := strings.ToUpper(name); slices.Contains(argumentNames(cmd), argument) {
			return usagef("%s: %s is not a flag but an argument\nusage: %s", cmd.CommandPath(), argument, cmd.UseLine())
		}
		if nearest := suggest.Nearest(name, names); nearest != "" {
			hint = fmt.Sprintf("did you mean --%s? %s", nearest, hint)
		} else if others := commandsWith(cmd.Root(), name); len(others) > 0 {
			hint = fmt.Sprintf("it belongs to %s; %s", strings.Join(others, ", "), hint)
		}
	}
	return usagef("%s: %w; %s", cmd.CommandPath(), err, hint)
}

// commandsWith returns the commands that have a flag.
func commandsWith(root *cobra.Command, flag string) (names []string) {
	for _, c := range root.Commands() {
		if c.LocalNonPersistentFlags().Lookup(flag) != nil {
			names = append(names, c.CommandPath())
		}
	}
	return names
}

// initial returns the shortest of the names that begin with a letter, or "".
func initial(names []string, letter string) string {
	shortest := ""
	for _, name := range names {
		if strings.HasPrefix(name, letter) && (shortest == "" || len(name) < len(shortest)) {
			shortest = name
		}
	}
	return shortest
}
