//go:build unix

package organise

import (
	"errors"
	"syscall"
)

// unwritable says that a place takes no files, as opposed to being full.
func unwritable(err error) bool { return errors.Is(err, syscall.EROFS) }
