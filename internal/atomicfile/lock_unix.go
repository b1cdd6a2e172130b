//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock marks f as being written. A file system without locks (some network
// mounts) is not an error: RemoveStale goes by age there.
func lock(f *os.File) { _ = flock(f, unix.LOCK_EX) }

// renamesOpen says that what is open can be renamed, so that a lock is held meanwhile.
const renamesOpen = true

// ifAbandoned does something with a temporary file or directory whose writer is gone,
// and reports whether that is so.
func ifAbandoned(path string, do func() error) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if !abandoned(f) || !sameFile(f, path) {
		return false, nil
	}
	if err := do(); err != nil {
		return false, err
	}
	return true, nil
}

// abandoned reports whether the writer of f is gone. If so, it holds the lock
// until f is closed.
func abandoned(f *os.File) bool {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return true
	}
	info, e := f.Stat() // where there are no locks
	return !errors.Is(err, unix.EWOULDBLOCK) && e == nil && time.Since(info.ModTime()) > dayOld
}

const dayOld = 24 * time.Hour

// movable returns an error unless the files of a folder may be moved out of it.
func movable(dir string) error {
	if err := unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "move", Path: dir, Err: err}
	}
	return nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// cannotSync marks file systems that refuse fsync on directories.
func cannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
