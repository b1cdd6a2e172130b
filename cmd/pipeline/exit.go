package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline/embed"
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

// wrongFlag adds a hint to an error about a flag: the nearest name if the flag is
// unknown, and how to get help.
func wrongFlag(cmd *cobra.Command, err error) error {
	hint := "see " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		hint = fmt.Sprintf("did you mean --%s? %s", nearestFlag(cmd, unknown.GetSpecifiedName()), hint)
	}
	return usagef("%s: %w; %s", cmd.CommandPath(), err, hint)
}

func nearestFlag(cmd *cobra.Command, name string) string {
	nearest, least := "help", levenshtein.ComputeDistance(name, "help")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := levenshtein.ComputeDistance(name, f.Name); d < least {
			nearest, least = f.Name, d
		}
	})
	return nearest
}
