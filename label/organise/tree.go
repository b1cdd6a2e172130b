// Package organise writes the results of labelling as a tree of class folders
// with links to the photos or copies of them, and as XMP sidecars.
//
// It never writes to, moves or removes a photo. A [Tree] is rebuilt next to the
// old one and replaces it atomically; files in the old tree that this package
// did not create, or that are the last copy of a photo, are carried over.
// [Sidecars] never touches an .xmp file that it did not write.
package organise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// How is what the class folders contain.
type How string

// Links are symbolic links to the photos; Copies are copies with the photos'
// time stamps.
const (
	Links  How = "link"
	Copies How = "copy"
)

// A Tree builds the class folders. Below its class folder an image has its
// original path, so that names never collide.
type Tree struct {
	how  How
	root string // of the images, absolute
	old  string
	dir  *atomicfile.Dir
	made map[string]bool // folders
}

// NewTree begins a tree at dir for images below root. Defer Abort, which does
// nothing after Commit.
func NewTree(how How, root, dir string) (*Tree, error) {
	if how != Links && how != Copies {
		return nil, fmt.Errorf("organise: %q is neither link nor copy", string(how))
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(dir)) // leftovers only take up space
	d, err := atomicfile.CreateDir(dir)
	if err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	return &Tree{how: how, root: abs, old: dir, dir: d, made: map[string]bool{}}, nil
}

// Put adds one labelled image. A problem with this image alone is a
// *label.ItemError.
func (t *Tree) Put(row label.Scored) error {
	class, path := folderName(row.Prediction.Label), row.Sample.Path
	if row.Rejected {
		class = unknownFolder
	}
	place := placeOf(class, path)
	to := filepath.Join(t.dir.Path(), place)
	if err := t.folder(filepath.Dir(to)); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	from := dataset.FullPath(t.root, path)
	var err error
	if t.how == Links {
		err = os.Symlink(from, to)
	} else {
		err = t.copy(from, to, filepath.Join(t.old, place))
	}
	if err != nil {
		return fmt.Errorf("organise %s: %w", path, err)
	}
	return nil
}

func (t *Tree) folder(dir string) error {
	if t.made[dir] {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	t.made[dir] = true
	return nil
}

// copy reuses the copy of an earlier run if it is still good.
func (t *Tree) copy(from, to, earlier string) error {
	info, err := os.Stat(from)
	if err != nil {
		return &label.ItemError{Err: err}
	}
	if sameCopy(earlier, info) && os.Link(earlier, to) == nil {
		return nil
	}
	return copyFile(from, to, info)
}

// sameCopy reports whether file is a regular file with the size and time of the
// original.
func sameCopy(file string, original fs.FileInfo) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() == original.Size() && info.ModTime().Equal(original.ModTime())
}

// copyFile sets the time stamp last, so that a truncated copy never looks like
// a good one.
func copyFile(from, to string, info fs.FileInfo) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return &label.ItemError{Err: err}
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if n != info.Size() {
		return &label.ItemError{Err: errors.Join(fmt.Errorf("it changed while it was copied (%d bytes, then %d)", info.Size(), n), os.Remove(to))}
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// Commit replaces the old tree with the new one.
func (t *Tree) Commit(embed.Outcome) error {
	err := t.takeOver()
	if err == nil {
		err = t.dir.Commit()
	}
	if err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	return nil
}

// Abort discards the new tree; the old one stays.
func (t *Tree) Abort() { t.dir.Abort() }

// takeOver carries over everything in the old tree except our own links to, and
// copies of, photos that still exist.
func (t *Tree) takeOver() error {
	if _, err := os.Lstat(t.old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return filepath.WalkDir(t.old, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		place, err := filepath.Rel(t.old, name)
		if err != nil || e.IsDir() || t.isOurs(place, name, e) {
			return err
		}
		to := filepath.Join(t.dir.Path(), place)
		if err := t.folder(filepath.Dir(to)); err != nil {
			return err
		}
		for n := 2; ; n++ {
			err := linkOrCopy(name, to, e)
			if !errors.Is(err, fs.ErrExist) {
				return err
			}
			to = filepath.Join(t.dir.Path(), fmt.Sprintf("%s.kept-%d", place, n))
		}
	})
}

// isOurs reports whether an entry of the old tree can be dropped without loss.
func (t *Tree) isOurs(place, name string, e fs.DirEntry) bool {
	image, nested := imageOf(place)
	if e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		outside := placeOf("", filepath.ToSlash(target)) == filepath.FromSlash(image) // as placeOf names images from outside the folder
		return err == nil && nested && (outside || target == dataset.FullPath(t.root, image))
	}
	info, err := os.Stat(dataset.FullPath(t.root, image))
	return err == nil && nested && sameCopy(name, info)
}

// linkOrCopy hard-links the file name as to, or copies it on file systems
// without hard links.
func linkOrCopy(name, to string, e fs.DirEntry) error {
	if e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	err := os.Link(name, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; move it out of the tree", name)
	}
	return copyFile(name, to, info)
}

// unknownFolder holds the rejected images. No class folder has this name:
// folderName escapes a leading underscore.
const unknownFolder = "_rejected"

// folderName turns a class name into a safe folder name; different classes have
// different names.
func folderName(class string) string {
	if class == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(class) {
		c := class[i]
		switch {
		case c < 0x20 || c == 0x7f || strings.IndexByte(`/\%:*?"<>|`, c) >= 0,
			i == 0 && (c == '.' || c == '_' || c == '-' || c == ' '),
			i == len(class)-1 && (c == '.' || c == ' '):
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		default:
			b.WriteByte(c)
		}
	}
	return shortened(b.String())
}

// shortened limits a name to the 255 bytes that file systems allow.
func shortened(name string) string {
	const longest = 200
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:longest-17], "") + "%" + hex.EncodeToString(sum[:8])
}

// placeOf returns an image's path in the tree: its own path below the class
// folder, or a generated name for an image from outside the image folder.
func placeOf(class, image string) string {
	if filepath.IsAbs(filepath.FromSlash(image)) {
		sum := sha256.Sum256([]byte(image))
		image = "outside-" + hex.EncodeToString(sum[:4]) + "-" + path.Base(image)
	}
	return filepath.Join(class, filepath.FromSlash(image))
}

// imageOf is the inverse of placeOf for images inside the image folder: it
// returns the path below the class folder.
func imageOf(place string) (string, bool) {
	_, image, nested := strings.Cut(filepath.ToSlash(place), "/")
	return image, nested
}
