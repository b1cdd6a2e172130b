package teach

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/instance"
)

// OpenControl writes how the server of this session is reached by commands, into a file that only
// this user can read, until Close removes it.
func (s *Session) OpenControl(c instance.Contact) error {
	return c.Write(s.options.Model + controlSuffix)
}

// closeControl removes the file of OpenControl, also that of a session that was killed. The caller
// holds the lock of the journal.
func closeControl(file string) error {
	if err := atomicfile.Remove(file + controlSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Control returns what OpenControl wrote for the server that has a MODEL file open, nil if nobody
// has it open. The error wraps ErrInUse if whoever has it cannot be asked: fs.ErrNotExist if it
// has written nothing, yet or at all, and instance.ErrForeign if it is another user.
func Control(file string) (*instance.Contact, error) {
	held := Free(file)
	if !errors.Is(held, ErrInUse) {
		return nil, held
	}
	c, err := instance.Read(file + controlSuffix)
	if target, linkErr := filepath.EvalSymlinks(file); errors.Is(err, fs.ErrNotExist) && linkErr == nil {
		c, err = instance.Read(target + controlSuffix)
	}
	if err != nil {
		return nil, &unreachedError{held, err}
	}
	return &c, nil
}

// An unreachedError reports that a model is in use, and why whoever uses it cannot be asked.
type unreachedError struct{ held, cause error }

func (e *unreachedError) Error() string   { return e.held.Error() }
func (e *unreachedError) Unwrap() []error { return []error{e.held, e.cause} }
