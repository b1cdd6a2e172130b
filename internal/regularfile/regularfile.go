// Package regularfile opens the files that people name. Anything else that can
// have a name, such as a pipe, a device or a folder, could block the program or
// never end, and is refused; a folder is opened where one is wanted. On Windows it
// waits a moment for another program that has a file for itself.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular means that a path is not that of a regular file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file for reading and returns its size. Errors are
// *fs.PathError.
func Open(path string) (*os.File, int64, error) { return open(path, os.O_RDONLY, 0) }

// Edit opens a regular file for reading and writing, and makes it with a mode if there is
// none. Errors are *fs.PathError.
func Edit(path string, mode fs.FileMode) (*os.File, error) {
	f, _, err := open(path, os.O_RDWR|os.O_CREATE, mode)
	return f, err
}

// EditOwn is Edit for a file whose name the program chose. A symbolic link of that name, which
// would lead to somebody else's file, is refused.
func EditOwn(path string, mode fs.FileMode) (*os.File, error) {
	if err := unlinked(path, nil); err != nil {
		return nil, err
	}
	f, err := Edit(path, mode)
	if err != nil {
		return nil, err
	}
	if err := unlinked(path, f); err != nil { // should it have become one since
		f.Close()
		return nil, err
	}
	return f, nil
}

// unlinked returns an error if a path is that of a symbolic link, or of another file than the
// one that was opened, unless that is nil.
func unlinked(path string, opened *os.File) error {
	named, err := os.Lstat(path)
	switch {
	case opened == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case named.Mode()&fs.ModeSymlink != 0:
		err = fmt.Errorf("%w: it is a symbolic link, remove it", ErrNotRegular)
	case opened == nil:
		return nil
	default:
		var info fs.FileInfo
		info, err = opened.Stat()
		if err == nil && !os.SameFile(info, named) {
			err = fmt.Errorf("%w: it was replaced", ErrNotRegular)
		}
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// Folder opens a folder for reading the names in it. Errors are *fs.PathError.
func Folder(path string) (*os.File, error) {
	info, err := os.Stat(path) // before anything that is no folder is opened
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // should it have become a pipe since
}

func open(path string, flags int, mode fs.FileMode) (*os.File, int64, error) {
	f, err := openFile(path, flags|syscall.O_NONBLOCK, mode) // does not wait for the other end of a pipe
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: it is a folder", ErrNotRegular)}
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Read returns the content of a regular file of at most maxBytes.
func Read(path string, maxBytes int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxBytes {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%d bytes: more than %d", size, maxBytes)}
	}
	return ReadAll(f, size)
}

// ReadHead returns the first bytes of a regular file, at most n.
func ReadHead(path string, n int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, min(size, n))
}

// ReadAll reads a file that Open has opened, and no more than its size then.
func ReadAll(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return data, nil
}

// Cause strips the path from an error, for a message that names the file already.
func Cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
