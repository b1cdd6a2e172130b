package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/windows"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// inUse are the errors that may be due to an open file. Windows also denies access to one
// that is being removed.
var inUse = []error{windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION,
	windows.ERROR_ACCESS_DENIED, windows.ERROR_USER_MAPPED_FILE, windows.ERROR_DELETE_PENDING}

// patiently repeats a change of names that fails because a file is open.
func patiently(change func() error) error {
	err := regularfile.Patiently(change, inUse...)
	if slices.ContainsFunc(inUse, func(reason error) bool { return errors.Is(err, reason) }) {
		return fmt.Errorf("%w (it is read-only, or open in another program, such as a viewer, Explorer or a virus "+
			"scanner: close that and try again)", err)
	}
	return err
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
