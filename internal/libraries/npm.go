package libraries

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
)

// patience is how long npm or pip may take to end after it was interrupted.
const patience = 5 * time.Second

// NPM obtains a library through npm, with the user's registry, proxy and other
// settings. npm only fetches the package: no script of it runs, no other package is
// fetched, and nothing stays in npm's cache.
func NPM(ctx context.Context, wanted Target) error {
	return through(ctx, []string{"npm"}, wanted, func(dir string) []string {
		return []string{
			"pack", wanted.Release(), "--ignore-scripts", "--cache", filepath.Join(dir, "cache"),
			"--loglevel=error", "--no-audit", "--no-fund", "--no-update-notifier",
		}
	})
}

// Pip obtains a wheel through pip as NPM does through npm. Pip installs nothing.
func Pip(ctx context.Context, wanted Target) error {
	return through(ctx, []string{"pip3", "pip"}, wanted, func(string) []string {
		return []string{
			"download", wanted.Release(), "--no-deps", "--only-binary=:all:", "--no-cache-dir",
			"--quiet", "--no-input", "--disable-pip-version-check",
		}
	})
}

// through makes the first of the programs that is installed store a package in a folder,
// and takes what is wanted from it.
func through(ctx context.Context, programs []string, wanted Target, arguments func(dir string) []string) error {
	var program string
	var err error
	for _, name := range programs {
		if program, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := prepare(wanted.Dir); err != nil {
		return err
	}
	name := programs[len(programs)-1]
	work, err := atomicfile.CreateDir(filepath.Join(wanted.Dir, name), nil)
	if err != nil {
		return download.Full(err, wanted.Dir, 0, freeSpace)
	}
	defer work.Abort()
	if err := fetch(ctx, program, work.Path(), arguments(work.Path())); err != nil {
		return fmt.Errorf("%s could not fetch %s: %w", name, wanted.Release(), err)
	}
	_, err = From(ctx, filepath.Join(work.Path(), wanted.Archive()), []Target{wanted}, nil)
	return err
}

// fetch runs a program in a folder.
func fetch(ctx context.Context, program, dir string, arguments []string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir, cmd.Stderr = dir, &output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w; it says:\n%s\ncheck the network, or its registry and proxy settings", err,
			strings.TrimSpace(output.String()))
	}
	return nil
}
