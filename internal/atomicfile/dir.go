package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Dir is a directory that is filled under a temporary name until Commit.
type Dir struct {
	tmp, path string
	held      *os.File
	done      bool
}

// CreateDir starts a new version of the directory path. Call Abort (a no-op
// after Commit) in a defer.
func CreateDir(path string) (*Dir, error) {
	path = filepath.Clean(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if err := RecoverDir(path); err != nil {
		return nil, err
	}
	for {
		tmp := filepath.Join(filepath.Dir(path), tempName(filepath.Base(path)))
		if err := os.Mkdir(tmp, 0o755); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		held, err := os.Open(tmp)
		if errors.Is(err, fs.ErrNotExist) {
			continue // RemoveStale removed it before it was locked
		}
		if err != nil {
			os.Remove(tmp)
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		lock(held)
		if sameFile(held, tmp) {
			return &Dir{tmp: tmp, path: path, held: held}, nil
		}
		held.Close()
	}
}

// Path returns the folder to write to until Commit.
func (d *Dir) Path() string { return d.tmp }

// Commit puts the directory in place of the old one, if any, and removes the
// old one. The caller must have synced the files inside. Where the system can
// exchange two names (Linux) one of the two always exists; elsewhere a crash
// between two renames leaves the old directory under ".<name>.replaced-old",
// where RecoverDir finds it.
func (d *Dir) Commit() error {
	if d.done {
		return fmt.Errorf("commit %s: already finished", d.path)
	}
	if err := SyncDir(d.tmp); err != nil {
		return err
	}
	if err := d.swapIn(); err != nil {
		return fmt.Errorf("put %s in place: %w", d.path, err)
	}
	d.done = true
	return errors.Join(d.held.Close(), SyncDir(filepath.Dir(d.path)))
}

func (d *Dir) swapIn() error {
	if _, err := os.Lstat(d.path); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(d.tmp, d.path)
	}
	err := exchange(d.tmp, d.path)
	if err == nil {
		return os.RemoveAll(d.tmp) // now the old content
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return d.swapByTwoRenames()
}

func (d *Dir) swapByTwoRenames() error {
	aside := asideName(d.path)
	if err := os.Rename(d.path, aside); err != nil {
		return err
	}
	if err := os.Rename(d.tmp, d.path); err != nil {
		return errors.Join(err, os.Rename(aside, d.path))
	}
	return os.RemoveAll(aside)
}

// Abort removes the unfinished directory. After Commit or another Abort it does
// nothing.
func (d *Dir) Abort() {
	if d.done {
		return
	}
	d.done = true
	os.RemoveAll(d.tmp)
	d.held.Close()
}

func asideName(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".replaced-old")
}

// RecoverDir completes an exchange interrupted by a crash: it restores the old
// directory if the name is free, and removes it if the new one exists.
func RecoverDir(path string) error {
	aside := asideName(path)
	if _, err := os.Lstat(aside); err != nil {
		return nil
	}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(aside, path)
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(aside)
}
