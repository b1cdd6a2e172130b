package libraries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
)

const (
	// patience is how long pip may take to end after it was interrupted.
	patience = 5 * time.Second
	// glance is how often somebody looks how far it is.
	glance = 100 * time.Millisecond
)

// ErrNoPip reports that there is no pip.
var ErrNoPip = errors.New("pip is not installed")

// Pip is the command that runs pip.
type Pip []string

// FindPip returns the first command that is pip: a Python may have it or not.
func FindPip() (Pip, error) {
	for _, command := range []Pip{
		{"pip3"}, {"pip"}, {"python3", "-m", "pip"}, {"python", "-m", "pip"}, {"py", "-m", "pip"},
	} {
		program, err := exec.LookPath(command[0])
		if err != nil {
			continue
		}
		command[0] = program
		if exec.Command(program, append(slices.Clone(command[1:]), "--version")...).Run() == nil {
			return command, nil
		}
	}
	return nil, ErrNoPip
}

// Obtain obtains a library, with the user's index, proxy and other settings, whatever the
// version of Python: it asks for the wheel of the platform that is wanted. Pip only fetches
// the wheel: nothing is installed or run, and nothing stays in pip's cache. Progress, unless nil,
// is told of the bytes of the wheel, on another goroutine.
func (p Pip) Obtain(ctx context.Context, wanted Target, progress Progress) (err error) {
	if wanted.Dir, err = filepath.Abs(wanted.Dir); err != nil { // as pip runs elsewhere
		return err
	}
	if err := prepare(wanted.Dir); err != nil {
		return err
	}
	work, err := atomicfile.CreateDir(filepath.Join(wanted.Dir, "pip"), nil)
	if err != nil {
		return download.Full(err, wanted.Dir, 0, freeSpace)
	}
	defer work.Abort()
	unwatch := watch(work.Path(), wanted.Archive.Bytes, progress)
	err = fetch(ctx, work.Path(), append(slices.Clone(p), downloadOf(wanted)...))
	unwatch()
	if err != nil {
		return fmt.Errorf("pip could not fetch %s: %w", wanted.Release(), err)
	}
	_, err = From(ctx, filepath.Join(work.Path(), wanted.Archive.Name), []Target{wanted}, nil)
	return err
}

// downloadOf returns the arguments of pip.
func downloadOf(wanted Target) []string {
	arguments := []string{
		"download", wanted.Release(), "--no-deps", "--only-binary=:all:", "--no-cache-dir",
		"--quiet", "--no-input", "--disable-pip-version-check",
	}
	return append(arguments, platformTags(wanted.Archive.Name)...)
}

// platformTags returns the arguments that ask pip for a wheel by the tags in its name: those
// of Python, of its interface and of the platform.
func platformTags(wheel string) []string {
	tags := strings.Split(strings.TrimSuffix(wheel, ".whl"), "-")
	platforms := strings.Split(tags[4], ".")
	return []string{
		"--implementation=cp", "--python-version=" + strings.TrimPrefix(tags[2], "cp"), "--abi=" + tags[3],
		"--platform=" + platforms[len(platforms)-1],
	}
}

// watch tells how far a wheel is that pip stores below a folder, until it is told to end: pip
// does not say so to another program, but the wheel is by far the largest file there, from its
// first byte on.
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

// fetch runs pip in a folder, where it also keeps its temporary files.
func fetch(ctx context.Context, dir string, command []string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stderr = dir, &output
	// Pip may be set up to refuse what is not for a virtual environment, or has no hash in a file.
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir, "PIP_REQUIRE_VIRTUALENV=0",
		"PIP_REQUIRE_HASHES=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w; it says:\n%s\ncheck the network, or its index and proxy settings", err,
			strings.TrimSpace(output.String()))
	}
	return nil
}
