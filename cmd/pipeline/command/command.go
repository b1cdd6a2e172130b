// Package command is the command line: one file per command, which turns flags into
// calls of the other packages and their errors into messages and exit codes.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Main executes the command line of this process and ends it.
func Main(ctx context.Context) {
	if info, ok := debug.ReadBuildInfo(); ok && release.MatchString(info.Main.Version) {
		version = info.Main.Version[1:]
	}
	cobra.MousetrapHelpText = "" // a double click on Windows gets the start page
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// release matches the versions that go install records; a build of a commit between them
// is a development version.
var release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-rc\.?[0-9]+)?$`)

// endings returns the signals that end the work in good order. A SIGHUP that the
// parent ignores stays ignored, as nohup wants.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Run executes one command line and returns the exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 && (fromExplorer() || clicked(os.Stdin, stdout, os.Getenv)) {
		args = []string{"start"}
	}
	root := NewRoot()
	root.SetArgs(joined(root, args))
	out := &checkedWriter{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || isPartial(err)) {
		err = fmt.Errorf("the output is incomplete: %w", out.err)
	}
	if err != nil && ctx.Err() != nil && !isPartial(err) && !isFinal(err) {
		err = ctx.Err() // whatever else the interruption has made fail
	}
	if err != nil {
		printError(stderr, err, logsJSON(root, args))
	}
	return exitCode(err)
}

// A checkedWriter remembers the first error, so that results printed to a full disk
// are not taken for complete.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
