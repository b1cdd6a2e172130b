package teach

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// mostControl bounds the file that says where a server takes work.
const mostControl = 1 << 12

// OpenControl writes where the server of this session takes the work of commands, into a file that
// only this user can read, until Close removes it.
func (s *Session) OpenControl(where []byte) error {
	return atomicfile.Write(s.options.Model+controlSuffix, func(f *atomicfile.File) error {
		if err := f.Chmod(private); err != nil {
			return err
		}
		_, err := f.Write(where)
		return err
	})
}

// closeControl removes the file of OpenControl, also that of a session that was killed. The caller
// holds the lock of the journal.
func closeControl(file string) error {
	if err := atomicfile.Remove(file + controlSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Control returns what OpenControl wrote for the server that has a MODEL file open; nil if nobody has
// it open, or whoever has it takes no work.
func Control(file string) ([]byte, error) {
	if err := Free(file); !errors.Is(err, ErrInUse) {
		return nil, err
	}
	where, err := regularfile.Read(file+controlSuffix, mostControl)
	if target, linkErr := filepath.EvalSymlinks(file); errors.Is(err, fs.ErrNotExist) && linkErr == nil {
		where, err = regularfile.Read(target+controlSuffix, mostControl)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return where, err
}
