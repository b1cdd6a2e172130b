// Package organise writes the results of labelling as a tree of class folders
// with links to the photos or copies of them, and as XMP sidecars.
//
// It never writes to, moves or removes a photo. A [Tree] is rebuilt next to the
// old one and replaces it atomically; what this package did not create in the old
// tree, or what is the last copy of a photo, moves into the new one. A tree in a
// folder in which no job has finished is not ours: all of it stays. [Sidecars] never
// touches an .xmp file that it did not write.
package organise

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// How is what the class folders contain.
type How string

// Links are symbolic links to the photos; Copies are copies with the photos'
// time stamps; HardLinks are further names of the same files, and copies where the file
// system has no such links.
const (
	Links     How = "link"
	Copies    How = "copy"
	HardLinks How = "hard link"
)

// A Tree builds the class folders. Below its class folder an image has its
// original path, so that names never collide.
type Tree struct {
	how    How
	root   string // of the images, absolute
	old    string
	again  bool // a job has finished here, so that the old tree is one of ours
	layout Layout
	dir    *atomicfile.Dir
	made   map[string]bool // folders
	// empty are the photos without a box, placed where the boxes of the last photo are.
	empty  []dataset.BoxedPhoto
	last   string
	placed map[string]bool
}

// A Layout says what a tree has at a place, a path below it.
type Layout struct {
	// ImageAt returns the path of the image that is there, false if there is none.
	ImageAt func(place string) (image string, ok bool)
	// CropOf returns the path of the image of which a run has made the picture that is there,
	// false if it makes none there; nil if it makes none at all.
	CropOf func(place string) (image string, ok bool)
	// Files are the places of other files that every run writes.
	Files []string
}

// NewTree begins a tree of class folders at dir, in the folder of a job, for images below
// root, which must not be in the tree, or for the boxes of photos: then a photo is in the folder
// of each class that it shows, and empty ones are in that of label.EmptyPhoto. Defer Abort,
// which does nothing after Commit.
func NewTree(how How, root, dir string, empty ...dataset.BoxedPhoto) (*Tree, error) {
	if how != Links && how != Copies {
		return nil, fmt.Errorf("organise: %q is neither link nor copy", string(how))
	}
	t, err := NewTreeOf(Layout{ImageAt: imageOf}, how, root, dir)
	if err == nil {
		t.empty = empty
	}
	return t, err
}

// NewTreeOf is NewTree for a tree of another layout, which its caller fills with Add.
func NewTreeOf(layout Layout, how How, root, dir string) (*Tree, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	if err := separate(abs, dir); err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(dir)) // leftovers only take up space
	t := &Tree{how: how, root: abs, old: dir, again: label.Finished(filepath.Dir(dir)), layout: layout,
		made: map[string]bool{}}
	if t.dir, err = atomicfile.CreateDir(dir, t.isOurs); err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	if how == Links {
		t.how = LinksIn(t.dir.Path())
	}
	return t, nil
}

// separate returns an error if a tree is not a folder of its own: a link to another
// folder, or around the photos.
func separate(root, tree string) error {
	info, err := os.Lstat(tree)
	if err != nil {
		return nil // there is none yet, or making it says why not
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, but the class folders need a folder of their own: remove the link, or "+
			"choose another one for the results",
			tree)
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if above, err := os.Stat(dir); err == nil && os.SameFile(info, above) {
			return fmt.Errorf("the photos in %s are inside %s, where the class folders go: choose another one for "+
				"the results", root, tree)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// Put adds one labelled image, or the photo of a box unless it is in the folder of its class
// already. A problem with this image alone is a *label.ItemError.
func (t *Tree) Put(row label.Scored) error {
	class, path := classFolder(row), row.Sample.File()
	if row.Sample.Box != nil {
		if path != t.last {
			t.last, t.placed = path, map[string]bool{}
		}
		if t.placed[class] {
			return nil
		}
		t.placed[class] = true
	}
	return t.Add(placeOf(class, path), path)
}

// Add puts an image at a place, a path below the tree. Errors are as for Put.
func (t *Tree) Add(place, image string) error {
	to := filepath.Join(t.dir.Path(), place)
	if err := t.folder(filepath.Dir(to)); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	if err := t.how.Place(dataset.FullPath(t.root, image), to, filepath.Join(t.old, place)); err != nil {
		return fmt.Errorf("organise %s: %w", image, err)
	}
	return nil
}

// Write puts a picture that was made of an image at a place, a path below the tree. It has the
// time of the image, by which a later run knows it.
func (t *Tree) Write(place, image string, picture []byte) error {
	to := filepath.Join(t.dir.Path(), place)
	info, err := os.Stat(dataset.FullPath(t.root, image))
	if err != nil {
		return &label.ItemError{Err: err}
	}
	if err := t.folder(filepath.Dir(to)); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	return errors.Join(os.WriteFile(to, picture, 0o644), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// How returns what the class folders contain, which is HardLinks where Links were asked
// for and cannot be made.
func (t *Tree) How() How { return t.how }

// LinksIn returns Links if symbolic links can be made in a folder, otherwise HardLinks:
// Windows lets only administrators make them, or everybody in developer mode, and some
// file systems have none.
func LinksIn(dir string) How {
	probe := filepath.Join(dir, ".link")
	err := os.Symlink(dir, probe)
	info, missing := os.Lstat(probe) // Wine makes none, without an error
	if missing == nil {
		_ = atomicfile.Remove(probe)
	}
	if err != nil || missing != nil || info.Mode()&fs.ModeSymlink == 0 {
		return HardLinks
	}
	return Links
}

// Place makes a link to a photo, or a copy of it, for which it reuses the copy of an
// earlier run, "" for none, if it is still good.
func (h How) Place(photo, to, earlier string) error {
	if h == Links {
		return os.Symlink(photo, to)
	}
	if h == HardLinks && hardLink(photo, to) == nil {
		return nil
	}
	info, err := os.Stat(photo)
	if err != nil {
		return &label.ItemError{Err: err}
	}
	if sameCopy(earlier, info) && os.Link(earlier, to) == nil {
		return nil
	}
	return copyFile(photo, to, info)
}

// hardLink gives a photo, not a link to it, another name.
func hardLink(from, to string) error {
	photo, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(photo); err != nil || !info.Mode().IsRegular() {
		return errors.Join(regularfile.ErrNotRegular, err)
	}
	return os.Link(photo, to)
}

// Path returns the folder in which the tree is until Commit, for other files in it.
func (t *Tree) Path() string { return t.dir.Path() }

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

// sameCopy reports whether file is a regular file with the size and time of the
// original, and not the original itself under another name.
func sameCopy(file string, original fs.FileInfo) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular() && !os.SameFile(info, original) &&
		info.Size() == original.Size() && info.ModTime().Equal(original.ModTime())
}

// sameTime reports whether a file has the time of a photo.
func sameTime(file, photo string) bool {
	made, err := os.Lstat(file)
	of, err2 := os.Stat(photo)
	return err == nil && err2 == nil && made.ModTime().Equal(of.ModTime())
}

// sameFile reports whether two names, which are no symbolic links, are of one file.
func sameFile(a, b string) bool {
	one, err1 := os.Lstat(a)
	other, err2 := os.Lstat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// sameBytes reports whether two regular files have the same content.
func sameBytes(a, b string) bool {
	one, size, err := regularfile.Open(a)
	if err != nil {
		return false
	}
	defer one.Close()
	other, size2, err := regularfile.Open(b)
	if err != nil {
		return false
	}
	defer other.Close()
	const block = 1 << 16
	left, right := make([]byte, block), make([]byte, block)
	for at := int64(0); size == size2 && at < size; at += block {
		n := int(min(block, size-at))
		_, err := io.ReadFull(one, left[:n])
		_, err2 := io.ReadFull(other, right[:n])
		if err != nil || err2 != nil || !bytes.Equal(left[:n], right[:n]) {
			return false
		}
	}
	return size == size2
}

// copyFile sets the time stamp last, so that a truncated copy never looks like
// a good one.
func copyFile(from, to string, info fs.FileInfo) (err error) {
	in, _, err := regularfile.Open(from) // what was one may be a pipe by now
	if err != nil {
		return &label.ItemError{Err: err}
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, info.Size()+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if n != info.Size() {
		return &label.ItemError{Err: errors.Join(fmt.Errorf("it changed while it was copied (%d bytes, then %d)",
			info.Size(), n), atomicfile.Remove(to))}
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// Commit replaces the old tree with the new one.
func (t *Tree) Commit(embedding.Outcome) error {
	for _, photo := range t.empty {
		var unreadable *label.ItemError
		err := t.Add(placeOf(FolderName(label.EmptyPhoto), photo.Path), photo.Path)
		if err != nil && !errors.As(err, &unreadable) {
			return err
		}
	}
	if err := t.dir.Commit(); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	return nil
}

// Abort discards the new tree; the old one stays.
func (t *Tree) Abort() { t.dir.Abort() }

// isOurs reports whether a file of the old tree can be removed without loss: a link
// to a photo that a run made, a copy that is equal to a photo, or what every run writes.
func (t *Tree) isOurs(place, name string, e fs.DirEntry) bool {
	if slices.Contains(t.layout.Files, filepath.ToSlash(place)) {
		return e.Type().IsRegular()
	}
	if !t.again {
		return false
	}
	if t.layout.CropOf != nil && e.Type().IsRegular() {
		if image, ok := t.layout.CropOf(place); ok && sameTime(name, dataset.FullPath(t.root, image)) {
			return true
		}
	}
	image, nested := t.layout.ImageAt(place)
	if !nested {
		return false
	}
	photo := dataset.FullPath(t.root, image)
	info, err := os.Stat(photo)
	if e.Type()&fs.ModeSymlink == 0 {
		return err == nil && (t.how == HardLinks && sameFile(name, photo) ||
			sameCopy(name, info) && sameBytes(name, photo))
	}
	if err == nil && info.IsDir() {
		return false
	}
	target, err := os.Readlink(name)
	// As placeOf names images from outside the folder.
	outside := placeOf("", filepath.ToSlash(target)) == filepath.FromSlash(image)
	return err == nil && (outside || target == photo)
}

// Folders of the images that are rejected, and of those that people set aside, as copies of another or otherwise. No
// class folder has these names: FolderName escapes a leading underscore.
const (
	unknownFolder = "_rejected"
	asideFolder   = "_set-aside"
	copiesFolder  = "_copies"
)

// placeOf returns an image's path in the tree: its own path below the class
// folder, or a generated name for an image from outside the image folder.
func placeOf(class, image string) string {
	if filepath.IsAbs(filepath.FromSlash(image)) {
		image = OutsideName(image)
	}
	return filepath.Join(class, filepath.FromSlash(image))
}

// OutsideName returns a name for an image that is not below the image folder.
func OutsideName(image string) string {
	sum := sha256.Sum256([]byte(image))
	return "outside-" + hex.EncodeToString(sum[:4]) + "-" + path.Base(image)
}

// imageOf is the inverse of placeOf for images inside the image folder: it
// returns the path below the class folder.
func imageOf(place string) (string, bool) {
	_, image, nested := strings.Cut(filepath.ToSlash(place), "/")
	return image, nested
}
