package backbone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// PullOptions configure a Pull.
type PullOptions struct {
	// Dir is Dirs.Cache; it is created if missing.
	Dir string
	// Client makes the requests, under the rules of download.Client; nil means
	// one that gives up on a silent server.
	Client *http.Client
	// Progress, unless nil, is called with the bytes downloaded so far;
	// totalBytes is 0 while unknown. It runs on the goroutine that called Pull.
	Progress func(doneBytes, totalBytes int64)
}

// attemptsPerURL is the number of attempts per URL; each resumes where the last
// one stopped.
const attemptsPerURL = 4

// partSuffix is the file suffix of an unfinished download.
const partSuffix = ".part"

// lockPoll is how often a second process checks whether the first is done.
const lockPoll = 200 * time.Millisecond

// Pull downloads the file of e, and those of its text side, into opts.Dir and returns
// the path of the first. An existing
// file with the right hash is not downloaded again. An interrupted download
// remains as "<name>.part" and the next call resumes it. The file gets its
// final name only if size and SHA-256 match the catalogue; a file with another
// hash is removed, and the error is a *HashError. The URLs of e are tried in
// order. If two processes pull at once, the second waits.
func Pull(ctx context.Context, e Entry, opts PullOptions) (string, error) {
	path, err := pull(ctx, e, opts)
	if err != nil {
		return "", fmt.Errorf("pull backbone %s: %w", e.Name, err)
	}
	return path, nil
}

func pull(ctx context.Context, e Entry, opts PullOptions) (string, error) {
	if !e.Pullable() {
		return "", fmt.Errorf("the catalogue has no address for it; %s", e.howToGet(Dirs{Cache: opts.Dir}))
	}
	if err := checkHash(e.SHA256); err != nil {
		return "", err
	}
	if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockDir(ctx, opts.Dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	return Dirs{Cache: opts.Dir}.CachePath(e), opts.fetchAll(ctx, e)
}

// fetchAll downloads the files of e.
func (opts PullOptions) fetchAll(ctx context.Context, e Entry) error {
	report, before, total := opts.Progress, int64(0), e.AllBytes()
	if e.Bytes == 0 {
		total = 0
	}
	for _, file := range e.files() {
		if report != nil && e.Text != nil {
			opts.Progress = func(done, _ int64) { report(before+done, total) }
		}
		if err := opts.fetch(ctx, file, Dirs{Cache: opts.Dir}.CachePath(file)); err != nil {
			return err
		}
		before += file.Bytes
	}
	return nil
}

// fetch downloads the file of e to path, unless it is there.
func (opts PullOptions) fetch(ctx context.Context, e Entry, path string) error {
	if verify(path, e) == nil {
		_ = atomicfile.Remove(path + partSuffix) // of no use any more
		return nil
	}
	d := transfer{entry: e, part: path + partSuffix, client: download.Client(opts.Client), progress: opts.Progress}
	if err := d.fromAny(ctx); err != nil {
		return err
	}
	return finish(d.part, path)
}

func lockDir(ctx context.Context, dir string) (unlock func() error, err error) {
	lock, err := regularfile.Lock(filepath.Join(dir, ".pull.lock"))
	if err != nil {
		return nil, err
	}
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("wait for another pull: %w", err)
	}
	return lock.Unlock, nil
}

// finish gives the verified file its final name.
func finish(part, path string) error {
	if err := atomicfile.Rename(part, path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// verify checks that the file at path is the one of e.
func verify(path string, e Entry) error {
	file, _, err := regularfile.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != e.SHA256 {
		return &HashError{Path: path, Want: e.SHA256, Got: got}
	}
	return nil
}

// fromAny tries the addresses in order until the part file is complete with the
// right hash.
func (d *transfer) fromAny(ctx context.Context) error {
	var failures error
	for _, address := range d.entry.URLs {
		err := d.from(ctx, address)
		if err == nil {
			return nil
		}
		failures = also(failures, fmt.Errorf("%s: %w", address, err))
		var local *fs.PathError
		if errors.As(err, &local) {
			return fmt.Errorf("%w%s", failures, d.saved()) // another address would not help
		}
		if ctx.Err() != nil {
			break
		}
	}
	return phrase.New("%w%s; without a connection, download the file elsewhere and copy it to %s (its SHA-256, %s, is "+
		"checked), or give its path with {backbone}",
		failures, d.saved(), strings.TrimSuffix(d.part, partSuffix), d.entry.SHA256)
}

// also is errors.Join on one line.
func also(first, second error) error {
	if first == nil {
		return second
	}
	return fmt.Errorf("%w; %w", first, second)
}

// saved says how much there is to resume from.
func (d *transfer) saved() string {
	info, err := os.Stat(d.part)
	if err == nil && info.Size() > 0 {
		return fmt.Sprintf("; %d bytes are saved, the same command resumes from there", info.Size())
	}
	return ""
}

// from fills the part file from one address and verifies it.
func (d *transfer) from(ctx context.Context, address string) error {
	var err error
	for range attemptsPerURL {
		var resumed bool
		resumed, err = d.attempt(ctx, address)
		if err == nil {
			if err = d.checkPart(); err == nil {
				return nil
			}
			if !resumed {
				return err
			}
			continue // the old part may have been wrong: start over once
		}
		var broken *brokenError
		if !errors.As(err, &broken) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// checkPart verifies the part file and removes it if it is wrong.
func (d *transfer) checkPart() error {
	err := verify(d.part, d.entry)
	var wrong *HashError
	if !errors.As(err, &wrong) {
		return err
	}
	if removeErr := atomicfile.Remove(d.part); removeErr != nil {
		return removeErr
	}
	return fmt.Errorf("refused and removed: %w", wrong)
}
