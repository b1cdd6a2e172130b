package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/internal/remark"
)

// An app is what every command starts from: the resolved settings, the application that does
// the work, and the streams to read and write. Nothing changes them.
type app struct {
	*pipeline.Studio
	config config.Config
	flags  *pflag.FlagSet
	log    *slog.Logger
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// quiet leaves out what say prints, because the results are in files or for programs.
	quiet bool
	// json and report are the destinations of --json and --report, empty for none.
	json, report string
	bars         bars
}

// open resolves the settings of a command and returns its app.
func open(cmd *cobra.Command) (*app, error) {
	flags := cmd.Flags()
	file, err := flags.GetString("config")
	if err != nil {
		return nil, err
	}
	set, err := flags.GetStringArray("set")
	if err != nil {
		return nil, err
	}
	c, err := config.Load(config.Sources{File: file, Environ: os.Environ(), Flags: flags, Set: set})
	if err != nil {
		return nil, &pipeline.UsageError{Err: err}
	}
	if err := flags.Set("log", c.Log); err != nil { // for the error that ends the command
		return nil, err
	}
	if c.Threads > 0 {
		runtime.GOMAXPROCS(c.Threads) // the matrix kernels start that many goroutines
	}
	if c.Out == streamed && !slices.Contains([]string{"rank", "search"}, cmd.Name()) {
		return nil, usagef("--out -: %s cannot write its result to stdout; name a file or folder", cmd.CommandPath())
	}
	asJSON, report := destinationOf(flags, "json"), destinationOf(flags, "report")
	if err := pipeline.Writable(asJSON); err != nil {
		return nil, err
	}
	if f := flags.Lookup("report"); f != nil && f.NoOptDefVal == outDir {
		if report == outDir || !f.Changed && c.Label.Report {
			report = c.Out
		}
		if f.Changed {
			c.Label.Report = report != ""
		}
	}
	a := &app{
		json: asJSON, report: report, config: c, flags: flags, log: newLog(cmd.ErrOrStderr(), c),
		bars:  bars{out: cmd.ErrOrStderr(), shown: !c.Quiet && c.Log == "text" && atTerminal(cmd.ErrOrStderr())},
		stdin: cmd.InOrStdin(), stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(),
		quiet: c.Out == streamed || asJSON == streamed || // what say prints would mix with the JSON
			c.Quiet && (flags.Lookup("out") != nil || flags.Lookup("onnx") != nil),
	}
	a.Studio, err = pipeline.Open(cmd.Context(), pipeline.WithSettings(c.Studio()), pipeline.WithVersion(version),
		pipeline.WithLogger(a.log), pipeline.WithListener(listener{a}),
		pipeline.WithDefaultNetwork(networkFrom(cmd.Context())))
	return a, err
}

// A listener prints what the application says, and shows how far it is.
type listener struct{ *app }

// Say implements pipeline.Listener.
func (l listener) Say(line string) { l.say("%s", line) }

// Begin implements pipeline.Listener.
func (l listener) Begin(unit string, total int64) pipeline.Counter { return l.bars.begin(unit, total) }

// with returns the app of a part of a command that has settings, and a report, of its own.
func (a *app) with(c config.Config, report string) *app {
	part := *a
	part.config, part.report, part.Studio = c, report, a.With(pipeline.WithSettings(c.Studio()))
	return &part
}

// networkKey is the key of a context for the network of new models.
type networkKey struct{}

// WithNetwork returns a context in which commands make new models with a network, as
// --backbone names one, instead of that of the program: tests take a faster one.
func WithNetwork(ctx context.Context, network string) context.Context {
	return context.WithValue(ctx, networkKey{}, network)
}

// networkFrom returns the network of new models, "" for that of the program.
func networkFrom(ctx context.Context) string {
	network, _ := ctx.Value(networkKey{}).(string)
	return network
}

// source returns the input of the command.
func (a *app) source() pipeline.Source {
	from := a.config.Source()
	from.Stdin = a.stdin
	return from
}

// finish prints what a request has done, and returns its error. A partial result is one.
func (a *app) finish(result interface{ Lines() []string }, err error) error {
	if err == nil || isPartial(err) {
		a.sayAll(result.Lines())
	}
	return err
}

func newLog(w io.Writer, c config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if c.Quiet {
		options.Level = slog.LevelWarn
	}
	if c.Log == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	if atTerminal(w) {
		return remark.New(options.Level, func(line string) { fmt.Fprintln(w, paint(w, line)) })
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// streamed is the name of a file that means stdin or stdout.
const streamed = "-"

// say prints a line about the command's result to stdout. Names in it are made printable.
func (a *app) say(format string, args ...any) {
	if a.quiet {
		return
	}
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = printable.Text(arg)
		case error:
			args[i] = printable.Text(arg.Error())
		}
	}
	fmt.Fprintln(a.stdout, paint(a.stdout, fmt.Sprintf(format, args...)))
}

// sayAll prints lines about the command's result to stdout.
func (a *app) sayAll(lines []string) {
	for _, line := range lines {
		a.say("%s", line)
	}
}

// writeJSON writes a result for programs to where --json says.
func (a *app) writeJSON(result any) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return a.writeFile(a.json, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n", text)
		return err
	})
}

// require returns a usage error that names the first empty flag and says what it is
// for. Each input is a flag and its value.
func (a *app) require(inputs ...[2]string) error {
	for _, in := range inputs {
		if in[1] == "" {
			_, usage := pflag.UnquoteUsage(a.flags.Lookup(in[0]))
			return usagef("--%s is missing: %s", in[0], usage)
		}
	}
	return nil
}

// writeFile writes a result to a file, or to stdout if that is named "-".
func (a *app) writeFile(file string, write func(io.Writer) error) error {
	if file == streamed {
		return write(a.stdout)
	}
	return atomicfile.Write(file, func(f *atomicfile.File) error { return write(f) })
}

// command makes a cobra RunE of the body of a command: it resolves the settings
// and passes them as an app.
func command(body func(ctx context.Context, a *app, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a, err := open(cmd)
		if err != nil {
			return err
		}
		return body(cmd.Context(), a, args)
	}
}
