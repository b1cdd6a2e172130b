package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/config"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
	"github.com/seed-90d10d51/pipeline/model"
)

// A workbench is what every command starts from: the resolved settings, and
// where to write.
type workbench struct {
	config config.Config
	log    *slog.Logger
	stdin  io.Reader // of workers
	stdout io.Writer
	stderr io.Writer
	// output is the folder around config.Out when that is one of a shard.
	output string
	// jpeg is libjpeg-turbo, loaded when first needed.
	jpeg func() (*turbojpeg.Decoder, error)
	// products is the backend of large products, chosen when first needed.
	products func() (native.Choice, error)
}

// open resolves the settings of a command.
func open(cmd *cobra.Command) (*workbench, error) {
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
		runtime.GOMAXPROCS(c.Threads) // the matrix kernels take as many goroutines as there are
	}
	w := &workbench{config: c, log: newLog(cmd.ErrOrStderr(), c.Log), stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr()}
	w.jpeg = sync.OnceValues(openTurboJPEG)
	w.products = sync.OnceValues(func() (native.Choice, error) { return native.Choose(c.Linalg, w.runtime) })
	return w, nil
}

func openTurboJPEG() (*turbojpeg.Decoder, error) {
	path, err := turbojpeg.Locate()
	if err != nil {
		return nil, err
	}
	return turbojpeg.Open(path)
}

// loadModel reads a MODEL, whose head then uses the chosen backend.
func (w *workbench) loadModel(file string) (*model.Model, error) {
	m, err := model.Load(file)
	if err != nil {
		return nil, err
	}
	products, err := w.products()
	if err != nil {
		return nil, err
	}
	m.Predictor.UseBackend(products)
	return m, nil
}

func newLog(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// say writes a line of the command's result for a person.
func (w *workbench) say(format string, args ...any) {
	fmt.Fprintf(w.stdout, format+"\n", args...)
}

// cacheDir returns the folder of embeddings and backbones.
func (w *workbench) cacheDir() (string, error) {
	if w.config.Cache != "" {
		return filepath.Abs(w.config.Cache)
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; give one with --cache", err)
	}
	return filepath.Join(user, "pipeline"), nil
}

func (w *workbench) backboneDirs() (backbone.Dirs, error) {
	cache, err := w.cacheDir()
	return backbone.Dirs{Cache: filepath.Join(cache, "backbones")}, err
}

// require names the first missing input.
func require(inputs ...[2]string) error {
	for _, in := range inputs {
		if in[1] == "" {
			return usagef("--%s is missing", in[0])
		}
	}
	return nil
}

// command wraps the body of a command: it resolves the settings first.
func command(body func(ctx context.Context, w *workbench, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		w, err := open(cmd)
		if err != nil {
			return err
		}
		return body(cmd.Context(), w, args)
	}
}
