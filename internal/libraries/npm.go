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

// patience is how long npm may take to end after it was interrupted.
const patience = 5 * time.Second

// NPM obtains a library through npm, with the user's registry, proxy and other
// settings. npm only fetches the package: no script of it runs, no other package is
// fetched, and nothing stays in npm's cache.
func NPM(ctx context.Context, wanted Target) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return err
	}
	if err := prepare(wanted.Dir); err != nil {
		return err
	}
	work, err := atomicfile.CreateDir(filepath.Join(wanted.Dir, "npm"), nil)
	if err != nil {
		return download.Full(err, wanted.Dir, 0, freeSpace)
	}
	defer work.Abort()
	if err := pack(ctx, npm, work.Path(), wanted.Release()); err != nil {
		return fmt.Errorf("npm could not fetch %s: %w", wanted.Release(), err)
	}
	_, err = From(ctx, filepath.Join(work.Path(), wanted.Archive()), []Target{wanted}, nil)
	return err
}

// pack makes npm store a package as it is in the registry.
func pack(ctx context.Context, npm, dir, release string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, npm, "pack", release, "--ignore-scripts", "--cache", filepath.Join(dir, "cache"),
		"--loglevel=error", "--no-audit", "--no-fund", "--no-update-notifier")
	cmd.Dir, cmd.Stderr = dir, &output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w; it says:\n%s\ncheck the network, or npm's registry and proxy settings", err, strings.TrimSpace(output.String()))
	}
	return nil
}
