package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Ours reports whether a file of an old directory may be removed once the new one
// is in place. Place is its path below the directory, name is its whole path. Nil
// is none. What the new directory has at the same place, as a hard link or as an
// equal symbolic one, is removed in any case.
type Ours func(place, name string, e fs.DirEntry) bool

// A settlement empties the directory old, whose name now belongs to new: files of
// ours are removed, everything else moves to new. Interrupted, it can be done again,
// and two processes may do it at once.
type settlement struct {
	old, new string
	ours     Ours
}

func settle(old, new string, ours Ours) error {
	s := settlement{old, new, ours}
	err := s.prune("")
	if err == nil {
		err = s.merge("")
	}
	if err != nil {
		return fmt.Errorf("%s is complete, but the old one, now %s, has files that could not be moved into it: %w; "+
			"move them by hand",
			new, old, err)
	}
	return nil
}

// prune removes what is ours, and the folders that are empty without it.
func (s settlement) prune(place string) error {
	dir := filepath.Join(s.old, place)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 && place != "" { // somebody made an empty folder
		return unlessGone(err)
	}
	for _, e := range entries {
		place, name := filepath.Join(place, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = s.prune(place)
		case s.ours != nil && s.ours(place, name, e), sameEntry(name, filepath.Join(s.new, place)):
			err = unlessGone(Remove(name))
		}
		if err != nil {
			return err
		}
	}
	_ = Remove(dir) // fails while there is something in it
	return nil
}

// merge moves what is left.
func (s settlement) merge(place string) error {
	dir := filepath.Join(s.old, place)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return unlessGone(err)
	}
	for _, e := range entries {
		if err := s.move(filepath.Join(place, e.Name()), e); err != nil {
			return err
		}
	}
	return unlessGone(Remove(dir))
}

func (s settlement) move(place string, e fs.DirEntry) error {
	from, to := filepath.Join(s.old, place), filepath.Join(s.new, place)
	err := renameNew(from, to)
	there, e2 := os.Lstat(to)
	if errors.Is(err, fs.ErrExist) && e.IsDir() && e2 == nil && there.IsDir() {
		return s.merge(place)
	}
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		kept := fmt.Sprintf(".kept-%d", n)
		if _, e := os.Lstat(from + kept); e != nil { // otherwise it is the name of a file that moves as well
			err = renameNew(from, to+kept)
		}
	}
	return unlessGone(err)
}

// unlessGone is no error for what has been removed or moved already.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sameEntry reports whether two names are hard links to one file, or equal symbolic
// links.
func sameEntry(a, b string) bool {
	one, err1 := os.Lstat(a)
	other, err2 := os.Lstat(b)
	if err1 != nil || err2 != nil || one.Mode().Type() != other.Mode().Type() {
		return false
	}
	if one.Mode().Type() == fs.ModeSymlink {
		target, err1 := os.Readlink(a)
		same, err2 := os.Readlink(b)
		return err1 == nil && err2 == nil && target == same
	}
	return os.SameFile(one, other)
}

// inherit gives the folders of a new directory the modes of the old ones. It
// returns an error for an old one whose files could not be moved.
func inherit(from, to string) error {
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = movable(name)
		}
		if err != nil {
			return fmt.Errorf("%w: it holds what would have to be moved; make it readable and writable, or move it "+
				"away", err)
		}
		if !e.IsDir() {
			return nil
		}
		place, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		return copyMode(name, filepath.Join(to, place))
	})
}

// copyMode gives the directory to, if there is one, the mode of from.
func copyMode(from, to string) error {
	old, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(to); err != nil || !info.IsDir() || info.Mode() == old.Mode() {
		return nil
	}
	return os.Chmod(to, old.Mode())
}

var asidePattern = regexp.MustCompile(`^\.(.*)\.replaced-[0-9a-z]+$`)

// asideName returns a new name for the old version of a directory.
func asideName(path string) string {
	return filepath.Join(filepath.Dir(path), "."+stem(path)+".replaced-"+strconv.FormatUint(rand.Uint64(), 36))
}

// stem returns the part of asideName that is of path alone.
func stem(path string) string {
	name := filepath.Base(path)
	if len(name) <= longNameBytes {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// recoverDir completes exchanges that a crash interrupted.
func recoverDir(path string, ours Ours) error {
	entries, _ := os.ReadDir(filepath.Dir(path)) // a missing one is found out by who creates path
	for _, e := range entries {
		match := asidePattern.FindStringSubmatch(e.Name())
		if match == nil || match[1] != stem(path) || !e.IsDir() {
			continue
		}
		aside := filepath.Join(filepath.Dir(path), e.Name())
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			if err := Rename(aside, path); err != nil {
				return err
			}
			continue
		}
		if _, err := ifAbandoned(aside, func() error { return settle(aside, path, ours) }); err != nil {
			return err
		}
	}
	return nil
}

// renameIfFree is renameNew where the system has no such step.
func renameIfFree(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return Rename(from, to)
}
