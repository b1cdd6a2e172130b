package organise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
)

// Spell calls put with a file, and where the disk cannot have that name, or cannot tell it from
// one that it has, with other spellings of it, until the disk takes one. It returns the one that
// was taken. A name that the disk refuses however it is spelt is a *label.ItemError.
func Spell(file string, put func(file string) error) (string, error) {
	dir, name := filepath.Split(file)
	others := []string{portable(name), shortName(name)}
	for letters := 0; ; {
		to := dir + withoutLetters(name, letters)
		err := put(to)
		switch {
		case err == nil:
			return to, nil
		case errors.As(err, new(*label.ItemError)):
			return "", err
		case errors.Is(err, fs.ErrExist) && letters < len(name):
			letters++
		case !refused(err):
			return "", err
		case len(others) == 0:
			return "", &label.ItemError{Err: fmt.Errorf("the disk cannot have a file of this name: %w", err)}
		default:
			name, letters, others = others[0], 0, others[1:]
		}
	}
}

// portable is a name that every disk can have, unless it is too long for one.
func portable(name string) string { return FileName(dataset.EscapePath(name)) }

// shortName is portable for disks that spend a part of the 255 bytes on something else, as encrypted ones do.
func shortName(name string) string { return shortened(portable(name), 120) }

// withoutLetters writes the first letters of a name as %XX, so that it differs from names that are equal but for
// capitals or the form of Unicode. Those that stand for a letter already are left alone.
func withoutLetters(name string, letters int) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case letters == 0:
			return b.String() + name[i:]
		case r == '%' || i > 0 && name[i-1] == '%' || i > 1 && name[i-2] == '%':
			b.WriteRune(r)
		default:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			letters--
		}
	}
	return b.String()
}

var shortPattern = regexp.MustCompile(`%[0-9a-f]{16}(\.[^.]*)?$`)

// original returns what Spell was given for a name in a tree, if it is in a folder.
func original(dir, name string) (string, bool) {
	for _, of := range []string{name, dataset.UnescapePath(Unescaped(name))} {
		if _, err := os.Lstat(filepath.Join(dir, of)); err == nil {
			return of, true
		}
	}
	if !shortPattern.MatchString(name) {
		return "", false
	}
	entries, _ := os.ReadDir(dir) // of an unreadable folder nothing is known
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool {
		return portable(e.Name()) == name || shortName(e.Name()) == name
	})
	if i < 0 {
		return "", false
	}
	return entries[i].Name(), true
}

// Original returns the path below root of which each part may have been spelt in another way in a tree; false if
// there is none.
func Original(root, place string) (string, bool) {
	var found string
	for part := range strings.SplitSeq(place, "/") {
		name, ok := original(filepath.Join(root, filepath.FromSlash(found)), part)
		if !ok || name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return "", false
		}
		found = path.Join(found, name)
	}
	return found, true
}

// shortened limits a name, keeping its suffix.
func shortened(name string, longest int) string {
	if len(name) <= longest {
		return name
	}
	suffix := path.Ext(name)
	if len(suffix) > 10 {
		suffix = ""
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:longest-17-len(suffix)], "") + "%" + hex.EncodeToString(sum[:8]) + suffix
}
