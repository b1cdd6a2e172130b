//go:build linux || darwin

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step.
func exchange(a, b string) error { return rename(a, b, swap) }

// renameNew renames from unless there is something called to.
func renameNew(from, to string) error {
	err := rename(from, to, onlyNew)
	if errors.Is(err, errors.ErrUnsupported) {
		return renameIfFree(from, to)
	}
	return err
}

func rename(from, to string, how uint) error {
	err := renameat(from, to, how)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
