package teach

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/instance"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// Suffixes of the files beside MODEL.
const (
	journalSuffix = ".journal"
	baseSuffix    = ".base"
	lockSuffix    = ".lock" // of the journal
	controlSuffix = journalSuffix + ".control"
)

// StartFile returns the file of the model that a session of MODEL starts from: its
// base if there is a journal, otherwise MODEL itself.
func StartFile(file string) string {
	if _, err := os.Stat(file + baseSuffix); err == nil && begun(file+journalSuffix) {
		return file + baseSuffix
	}
	return file
}

// begun reports whether a journal has a line.
func begun(journal string) bool {
	f, _, err := regularfile.Open(journal)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = bufio.NewReader(f).ReadSlice('\n')
	return err == nil || errors.Is(err, bufio.ErrBufferFull)
}

// ownBase returns an error if the base model of MODEL is without its journal, which then
// lies elsewhere and needs it: a session makes its journal before its base model.
func ownBase(file string) error {
	journal, base := file+journalSuffix, file+baseSuffix
	if free(base) || !free(journal) {
		return nil
	}
	return fmt.Errorf("%s belongs to a journal that is not here: "+
		"put %s back, or move %[1]s to where that is, to begin a new journal", base, journal)
}

// Free returns an error that wraps ErrInUse if a session of a MODEL file is open, in
// this process or in another.
func Free(file string) error {
	names := []string{file}
	if target, err := filepath.EvalSymlinks(file); err == nil && target != file {
		names = append(names, target)
	}
	for _, name := range names {
		if err := unlocked(name + journalSuffix); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// An inUseError says who has a journal, as far as anybody can know. It is ErrInUse.
type inUseError struct{ by string }

// inUse returns the error that somebody else has a journal.
func inUse(journal string) error {
	return &inUseError{instance.Holder(strings.TrimSuffix(journal, journalSuffix)+controlSuffix, journal+lockSuffix)}
}

func (e *inUseError) Error() string {
	who, remedy, _ := strings.Cut(ErrInUse.Error(), ":")
	if e.by != "" {
		who += " (" + e.by + ")"
	}
	return who + ":" + remedy
}

func (e *inUseError) Is(target error) bool { return target == ErrInUse }

// ofWhom adds to the error of a file that may not be opened whose it is.
func ofWhom(err error, path string) error {
	if whose := instance.Holder(path); errors.Is(err, fs.ErrPermission) && whose != "" {
		return fmt.Errorf("%w: it is a file of %s", err, whose)
	}
	return err
}

// unlocked returns ErrInUse if somebody holds the lock of a journal. It does not make the file.
func unlocked(journal string) error {
	file := journal + lockSuffix
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := regularfile.Lock(file)
	if err != nil {
		return err
	}
	free, err := lock.TryRLock()
	switch {
	case err != nil:
		return ofWhom(err, file)
	case !free:
		return inUse(journal)
	}
	return lock.Unlock()
}

// displaced returns a Refusal if a file that is open is no longer the file of its
// name, or if another program has changed its size.
func displaced(f *os.File, path string, size int64) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	named, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(Lost, "%s is gone, and nothing can be decided without it: "+
			"put it back, or save, which writes it again", name)
	case err != nil:
		return refuse(Lost, "%s cannot be found: %v", name, errors.Unwrap(err)) // without its folder
	case !os.SameFile(open, named):
		return refuse(Lost, "%s is another file than before, and nothing can be decided: "+
			"put the right one back, or move this one away and save, which writes the right one again", name)
	case open.Size() != size:
		return refuse(Lost, "another program has changed %s, and nothing can be decided: "+
			"move it away and save, which writes the right one again", name)
	}
	return nil
}

func free(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}
