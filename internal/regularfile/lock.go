package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// Lock returns the lock of a file, which locking makes if there is none. Errors are
// *fs.PathError. Locking does not wait for the other end of what has become a pipe since.
func Lock(path string) (*flock.Flock, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "lock", Path: path, Err: ErrNotRegular}
	}
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|syscall.O_NONBLOCK)), nil
}
