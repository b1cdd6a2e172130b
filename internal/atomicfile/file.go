package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A File is written under a temporary name until Commit gives it its final
// name.
type File struct {
	*os.File
	path string
	done bool
}

// Create starts a new version of path. Nothing is visible under path until
// Commit; a symbolic link is followed, so its target is replaced and the link
// remains. The file gets the permissions of the one that it replaces; a new one
// gets 0644 less the umask. Call Abort (a no-op after Commit) in a defer.
func Create(path string) (*File, error) { return CreateLike(path, path) }

// CreateLike is Create for a file that belongs to another one: a new file gets the
// permissions of that one.
func CreateLike(path, other string) (*File, error) {
	path, err := target(path)
	if err != nil {
		return nil, err
	}
	const usual = 0o644
	mode, known := permissions(path, other)
	if !known {
		mode = usual
	}
	return create(path, mode, known)
}

// WritePrivate replaces path, a file of the program that nobody else names, with one that
// only its user can read. A symbolic link of that name is replaced, not followed.
func WritePrivate(path string, data []byte) error {
	const private = 0o600
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("create %s: exists and is not a regular file (%s)", path, info.Mode().Type())
	}
	f, err := create(path, private, true)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Commit()
}

// Probe returns an error if no file can be created in a folder. What a killed probe
// leaves, [RemoveStale] removes.
func Probe(dir string) error {
	const private = 0o600
	f, err := create(filepath.Join(dir, "probe"), private, false)
	if err != nil {
		return err
	}
	f.Abort()
	return nil
}

// create begins a file that gets exactly a mode, or that less the umask.
func create(path string, mode fs.FileMode, exactly bool) (*File, error) {
	for {
		f, err := createLocked(path, mode, exactly)
		if err != nil || f != nil {
			return f, err
		}
	}
}

// createLocked returns nil without an error if another process's RemoveStale
// removed the new file before it was locked.
func createLocked(path string, mode fs.FileMode, exactly bool) (*File, error) {
	dir, name := filepath.Split(path)
	tmp := filepath.Join(dir, tempName(name))
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	}
	if err == nil && exactly {
		err = widen(f, mode)
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	lock(f)
	if !sameFile(f, tmp) {
		return nil, f.Close()
	}
	return &File{File: f, path: path}, nil
}

// permissions returns those of the first of some files that exists.
func permissions(names ...string) (mode fs.FileMode, known bool) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() {
			return info.Mode().Perm(), true
		}
	}
	return 0, false
}

// widen gives a new file the permissions that the umask took away.
func widen(f *os.File, mode fs.FileMode) error {
	info, err := f.Stat()
	if err == nil && info.Mode().Perm() != mode {
		err = f.Chmod(mode)
	}
	if err != nil {
		f.Close()
		_ = Remove(f.Name())
	}
	return err
}

// target resolves a symbolic link and refuses anything that is not a regular
// file, such as devices, pipes and directories, which a rename would destroy.
func target(path string) (string, error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case info.IsDir():
		return "", fmt.Errorf("create %s: not a regular file: a folder has this name", path)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return "", fmt.Errorf("create %s: exists and is not a regular file (%s)", path, info.Mode().Type())
	}
	return path, nil
}

// Commit makes the content durable and gives it its final name. On error the
// previous content of the name is untouched.
func (f *File) Commit() error {
	if f.done {
		return fmt.Errorf("commit %s: already finished", f.path)
	}
	if err := f.File.Sync(); err != nil {
		f.Abort()
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	f.done = true
	tmp := f.File.Name()
	if err := renameClosing(f.File, tmp, f.path); err != nil {
		_ = Remove(tmp)
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return SyncDir(filepath.Dir(f.path))
}

// renameClosing renames before it releases the lock, where the system allows
// that, so that no RemoveStale can intervene.
func renameClosing(f *os.File, from, to string) error {
	if renamesOpen {
		return errors.Join(Rename(from, to), f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return Rename(from, to)
}

// Abort removes the temporary file. After Commit or another Abort it does
// nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.File.Close()
	_ = Remove(f.File.Name())
}

// Write replaces path with what write writes, all or nothing.
func Write(path string, write func(*File) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// WriteFile replaces path with data, all or nothing.
func WriteFile(path string, data []byte) error {
	return Write(path, func(f *File) error {
		if _, err := f.Write(data); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return nil
	})
}

// SyncDir makes renames inside dir durable. On systems that cannot sync a
// directory it does nothing; they order renames themselves.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !cannotSync(err) {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

// sameFile reports whether name still refers to the open file f.
func sameFile(f *os.File, name string) bool {
	open, err1 := f.Stat()
	named, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(open, named)
}
