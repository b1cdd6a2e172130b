package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/windows"
)

// patience is how long a change waits for other programs.
const patience = 2 * time.Second

// patiently repeats a change of names that fails because a file is open.
func patiently(change func() error) error {
	deadline := time.Now().Add(patience)
	for wait := time.Millisecond; ; wait *= 2 {
		err := change()
		if err == nil || !inUse(err) {
			return err
		}
		if time.Now().Add(wait).After(deadline) {
			return fmt.Errorf("%w (it is read-only, or open in another program, such as a viewer, Explorer or a virus "+
				"scanner: close that and try again)", err)
		}
		time.Sleep(wait)
	}
}

// inUse reports whether an error may be due to an open file. Windows also denies access
// to one that is being removed.
func inUse(err error) bool {
	return slices.ContainsFunc([]error{windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION,
		windows.ERROR_ACCESS_DENIED, windows.ERROR_USER_MAPPED_FILE, windows.ERROR_DELETE_PENDING},
		func(reason error) bool { return errors.Is(err, reason) })
}

// removeAll is os.RemoveAll, which Wine lacks a function for.
func removeAll(name string) error {
	var names []string
	err := filepath.WalkDir(name, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return unlessGone(err)
	})
	for _, name := range slices.Backward(names) { // folders after what is in them
		err = errors.Join(err, unlessGone(os.Remove(name)))
	}
	return err
}
