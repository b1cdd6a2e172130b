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
	ours      Ours
	held      *os.File
	done      bool
}

// CreateDir starts a new version of the directory path; a symbolic link to a
// directory is followed. ours knows the files of the old version that Commit may
// remove. Call Abort (a no-op after Commit) in a defer.
func CreateDir(path string, ours Ours) (*Dir, error) {
	path, err := directory(path)
	if err != nil {
		return nil, err
	}
	if err := recoverDir(path, ours); err != nil {
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
			_ = Remove(tmp)
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		lock(held)
		if sameFile(held, tmp) {
			return &Dir{tmp: tmp, path: path, ours: ours, held: held}, nil
		}
		held.Close()
	}
}

// directory resolves a symbolic link and refuses what is not a directory, which an
// exchange would put out of sight.
func directory(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err := os.Readlink(path)
		if err != nil {
			return filepath.Clean(path), nil // there is nothing, or Mkdir says what is missing
		}
		return "",
			fmt.Errorf("create %s: it is a link to %s, which does not exist: make that folder, or remove the link",
				path, target)
	}
	if err != nil {
		return "", fmt.Errorf("create %s: %w", path, err)
	}
	info, err := os.Lstat(resolved)
	if err == nil && !info.IsDir() {
		err = errors.New("exists and is not a folder")
	}
	if err != nil {
		return "", fmt.Errorf("create %s: %w", path, err)
	}
	return resolved, nil
}

// Path returns the folder to write to until Commit.
func (d *Dir) Path() string { return d.tmp }

// Commit puts the directory in place of the old one, if any. What is ours in the
// old one is removed; everything else moves into the new one, to the same place or,
// if that is taken, to the same name with ".kept-2" and so on. The caller must have
// synced the files inside. Where the system can exchange two names (Linux, macOS) one of
// the two directories always has the name. A crash leaves the other one next to it
// under ".<name>.replaced-<random>", which the next CreateDir completes.
func (d *Dir) Commit() error {
	if d.done {
		return fmt.Errorf("commit %s: already finished", d.path)
	}
	if err := SyncDir(d.tmp); err != nil {
		return err
	}
	if !renamesOpen {
		d.held.Close()
	}
	aside, err := d.replace()
	if err != nil {
		return fmt.Errorf("put %s in place: %w", d.path, err)
	}
	d.done = true
	if aside != "" {
		err = settle(aside, d.path, d.ours)
	}
	if renamesOpen {
		d.held.Close()
	}
	return errors.Join(err, SyncDir(filepath.Dir(d.path)))
}

// replace gives the new directory its name, and returns that of the old one; "" if
// there was none.
func (d *Dir) replace() (aside string, err error) {
	info, err := os.Lstat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", Rename(d.tmp, d.path)
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder any more")
	}
	if err == nil {
		err = inherit(d.path, d.tmp)
	}
	if err != nil {
		return "", err
	}
	return d.exchange()
}

// exchange gives the new directory its name and returns that of the old one. It
// first takes the new one away from RemoveStale, which must not find the old one
// there.
func (d *Dir) exchange() (aside string, err error) {
	aside = asideName(d.path)
	if err := Rename(d.tmp, aside); err != nil {
		return "", err
	}
	d.tmp = aside
	mustBeClosed(aside, d.path)
	err = exchange(aside, d.path)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.exchangeByRenames()
	}
	return aside, err
}

func (d *Dir) exchangeByRenames() (aside string, err error) {
	aside = asideName(d.path)
	if err := Rename(d.path, aside); err != nil {
		return "", err
	}
	if err := Rename(d.tmp, d.path); err != nil {
		return "", errors.Join(err, Rename(aside, d.path))
	}
	return aside, nil
}

// Abort removes the unfinished directory. After Commit or another Abort it does
// nothing.
func (d *Dir) Abort() {
	if d.done {
		return
	}
	d.done = true
	d.held.Close()
	_ = RemoveAll(d.tmp)
}
