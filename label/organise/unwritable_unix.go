//go:build unix

package organise

import (
	"errors"
	"syscall"
)

// unwritable reports that a folder is read-only, as opposed to full.
func unwritable(err error) bool { return errors.Is(err, syscall.EROFS) }
