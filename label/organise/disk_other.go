//go:build !unix

package organise

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// unwritable reports that a folder is read-only, as opposed to full.
func unwritable(error) bool { return false }

// refused reports that a disk cannot have a file of this name or size, by the codes of Windows: a name that is
// wrong, too long, or no folder; a file too large for FAT.
func refused(err error) bool {
	var code syscall.Errno
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &code) && slices.Contains([]syscall.Errno{123, 206, 223,
		267}, code)
}
