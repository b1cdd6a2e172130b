package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

const renamesOpen = false

// lock does nothing: an open file or folder cannot be renamed, which is a lock.
func lock(*os.File) {}

// resting is longer than a writer needs between closing a file and renaming it.
const resting = time.Minute

// ifAbandoned does something with a temporary file or directory that nothing has open
// and in which nothing was written lately, and reports whether that is so.
func ifAbandoned(path string, do func() error) (bool, error) {
	changed, err := lastChange(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || time.Since(changed) < resting {
		return false, err
	}
	switch err := os.Rename(path, path); {
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_ACCESS_DENIED),
		errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := do(); err != nil {
		return false, err
	}
	return true, nil
}

// lastChange returns when a file, or a folder or a file in it, was last written.
func lastChange(path string) (last time.Time, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return err
	})
	return last, err
}

func movable(string) error { return nil }

func cannotSync(error) bool { return true }
