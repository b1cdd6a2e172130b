//go:build unix

package organise

import (
	"errors"
	"slices"
	"syscall"
)

// unwritable reports that a folder is read-only, as opposed to full.
func unwritable(err error) bool { return errors.Is(err, syscall.EROFS) }

// refused reports that a disk cannot have a file of this name or size. Some say of a name that it does not exist.
func refused(err error) bool {
	return slices.ContainsFunc([]error{syscall.EINVAL, syscall.ENAMETOOLONG, syscall.EILSEQ, syscall.ENOENT,
		syscall.EFBIG}, func(reason error) bool { return errors.Is(err, reason) })
}
