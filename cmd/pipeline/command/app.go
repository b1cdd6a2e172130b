package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/prior"
	"github.com/seed-90d10d51/pipeline/teach"
)

// An app is what every command starts from: the resolved settings and the streams to
// read and write. Nothing changes them.
type app struct {
	config config.Config
	// until ends networks that are running.
	until  context.Context
	flags  *pflag.FlagSet
	log    *slog.Logger
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	// quiet leaves out what say prints, because the results are in files or for programs.
	quiet bool
	// json and report are the destinations of --json and --report, empty for none.
	json, report string
	notes        *notes
	bars         bars
	// products returns the backend of large matrix products, chosen on first use.
	products func() (native.Choice, error)
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
		return nil, usageError{err}
	}
	if c.Threads > 0 {
		runtime.GOMAXPROCS(c.Threads) // the matrix kernels start that many goroutines
	}
	if c.Out == streamed && !slices.Contains([]string{"rank", "search"}, cmd.Name()) {
		return nil, usagef("--out -: %s cannot write its result to stdout; name a file or folder", cmd.CommandPath())
	}
	asJSON, report := destinationOf(flags, "json"), destinationOf(flags, "report")
	if err := writable(asJSON); err != nil {
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
	log := newLog(cmd.ErrOrStderr(), c)
	return &app{
		json: asJSON, report: report, until: cmd.Context(),
		config: c, flags: flags, log: log, notes: &notes{log: log, said: map[string]bool{}},
		bars:  bars{out: cmd.ErrOrStderr(), shown: !c.Quiet && c.Log == "text" && atTerminal(cmd.ErrOrStderr())},
		stdin: cmd.InOrStdin(), stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(),
		quiet: c.Out == streamed || asJSON == streamed || // what say prints would mix with the JSON
			c.Quiet && (flags.Lookup("out") != nil || flags.Lookup("onnx") != nil),
		products: productsUntil(cmd.Context(), c),
	}, nil
}

// productsUntil returns what chooses the backend of large matrix products, which end with
// ctx.
func productsUntil(ctx context.Context, c config.Config) func() (native.Choice, error) {
	return sync.OnceValues(func() (native.Choice, error) {
		choice, err := native.Choose(c.Linalg, embed.Options{Library: c.Runtime.Library}.Runtime)
		choice.Backend = linalg.Until(ctx, choice.Backend)
		return choice, err
	})
}

// with returns the app of a part of a command that has settings, and a report, of its own.
func (a *app) with(c config.Config, report string) *app {
	part := *a
	part.config, part.report = c, report
	return &part
}

// options returns the options to open an Embedder with.
func (a *app) options() embed.Options {
	c := a.config
	return embed.Options{
		Backbone: c.Backbone, SetUp: libraries.NetworkDirs(), Extractor: c.Extractor, Preprocess: c.Preprocess,
		Cache: c.Cache, Threads: c.Workers(),
		Library: c.Runtime.Library, ToolVersion: version, Log: a.log,
		Progress: a.bars.images, Until: a.until,
	}
}

// newOptions are those of a new model. The prior default is of the built-in backbone.
func (a *app) newOptions() embed.Options {
	o := a.options()
	if a.config.Classifier.Prior == prior.BuiltIn {
		o.Backbone = cmp.Or(o.Backbone, backbone.Default)
	}
	return o
}

// loadModel reads a MODEL and gives its head the chosen backend.
func (a *app) loadModel(file string) (*model.Model, error) {
	m, err := model.Load(file)
	if err != nil {
		return nil, err
	}
	products, err := a.products()
	if err != nil {
		return nil, err
	}
	m.Predictor.UseBackend(products)
	if share := a.config.Classifier.OldShare; share != 0 {
		m.Predictor.OldShare = share
	}
	return m, nil
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
		return slog.New(remarks{out: w, level: options.Level})
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

// lines describe something, for sayAll.
type lines []string

func (l *lines) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// plural is "1 image" or "2 images".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
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

// closeInto closes c and joins an error of Close to err.
func closeInto(c io.Closer, err *error) {
	if closing := c.Close(); closing != nil {
		*err = errors.Join(*err, closing)
	}
}

// writable returns an error if one of the named files cannot be written, or is a
// model that is being served, so that a command fails before its work rather than after
// it.
func writable(files ...string) error {
	for _, file := range files {
		if file == "" || file == streamed {
			continue
		}
		f, err := atomicfile.Create(file)
		if err != nil {
			return err
		}
		f.Abort()
		if err := teach.Free(file); err != nil {
			return err
		}
	}
	return nil
}

// writableFolder returns an error if nothing can be written into a folder, or into
// the nearest one above it that exists.
func writableFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		return writableFolder(filepath.Dir(dir))
	}
	f, err := os.CreateTemp(dir, ".pipeline-*") // any other name may be taken by a folder
	if err != nil {
		return fmt.Errorf("nothing can be written into %s: %w", dir, err)
	}
	return errors.Join(f.Close(), atomicfile.Remove(f.Name()))
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

// outFile returns an error if --out is missing or cannot be written.
func (a *app) outFile() error {
	if err := a.require([2]string{"out", a.config.Out}); err != nil {
		return err
	}
	return writable(a.config.Out)
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
