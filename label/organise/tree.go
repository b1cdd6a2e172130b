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
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
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
	made   map[string]string // folders, as the disk has them
	spell  func(file string, put func(file string) error) (string, error)
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
	t, err := NewTreeOf(Layout{ImageAt: imageAt(root)}, how, root, dir)
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
		made: map[string]string{".": "."}, spell: Spell}
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
	_, err := t.Add(placeOf(class, path), path)
	return err
}

// Add puts an image at a place, a path below the tree, and returns the place that it has: another where the disk
// cannot have a name, or cannot tell it from one that is there. Errors are as for Put.
func (t *Tree) Add(place, image string) (string, error) {
	place, err := t.spelt(place, func(to string) error {
		return t.how.Place(dataset.FullPath(t.root, image), to, filepath.Join(t.old, t.placeOf(to)))
	})
	if err != nil {
		return "", fmt.Errorf("organise %s: %w", image, err)
	}
	return place, nil
}

// Write puts a picture that was made of an image at a place, as Add does. It has the time of the image, by which a
// later run knows it.
func (t *Tree) Write(place, image string, picture []byte) (string, error) {
	info, err := os.Stat(dataset.FullPath(t.root, image))
	if err != nil {
		return "", &label.ItemError{Err: err}
	}
	return t.spelt(place, func(to string) error { return writeNew(to, bytes.NewReader(picture), info) })
}

// Folder makes a folder, a path below the tree, and returns it as the disk has it.
func (t *Tree) Folder(place string) (string, error) {
	if made, ok := t.made[place]; ok {
		return made, nil
	}
	made, err := t.spelt(place, func(to string) error { return os.Mkdir(to, 0o755) })
	if err != nil {
		return "", fmt.Errorf("organise: %w", err)
	}
	t.made[place] = made
	return made, nil
}

// spelt calls put with a place in a folder that is there, and returns the place that the disk took.
func (t *Tree) spelt(place string, put func(to string) error) (string, error) {
	folder, err := t.Folder(filepath.Dir(place))
	if err != nil {
		return "", err
	}
	to, err := t.spell(filepath.Join(t.dir.Path(), folder, filepath.Base(place)), put)
	return t.placeOf(to), err
}

// placeOf is the place of a file of the tree.
func (t *Tree) placeOf(file string) string {
	return strings.TrimPrefix(file, t.dir.Path()+string(filepath.Separator))
}

// How returns what the class folders contain, which is HardLinks where Links were asked
// for and cannot be made.
func (t *Tree) How() How { return t.how }

// Path returns the folder in which the tree is until Commit, for other files in it.
func (t *Tree) Path() string { return t.dir.Path() }

// Commit replaces the old tree with the new one.
func (t *Tree) Commit(embedding.Outcome) error {
	var refused label.Refused
	for _, photo := range t.empty {
		var item *label.ItemError
		_, err := t.Add(placeOf(FolderName(label.EmptyPhoto), photo.Path), photo.Path)
		if errors.As(err, &item) {
			refused = append(refused, dataset.Problem{Path: photo.Path, Err: item})
		} else if err != nil {
			return err
		}
	}
	if err := t.dir.Commit(); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	if refused != nil {
		return refused
	}
	return nil
}

// Abort discards the new tree; the old one stays.
func (t *Tree) Abort() { t.dir.Abort() }

// isOurs reports whether a file of the old tree can be removed without loss: a link
// to a photo that a run made, a copy that is equal to a photo, or what every run writes.
func (t *Tree) isOurs(place, name string, e fs.DirEntry) bool {
	tree := strings.TrimSuffix(name, place)
	if slices.ContainsFunc(t.layout.Files, func(file string) bool { // perhaps in other letters
		return sameFile(filepath.Join(tree, filepath.FromSlash(file)), name)
	}) {
		return e.Type().IsRegular()
	}
	if !t.again {
		return false
	}
	if t.layout.CropOf != nil && e.Type().IsRegular() {
		if image, ok := t.layout.CropOf(place); ok && cutFrom(name, dataset.FullPath(t.root, image)) {
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

// imageAt inverts placeOf for images inside the image folder.
func imageAt(root string) func(place string) (string, bool) {
	return func(place string) (string, bool) {
		_, image, nested := strings.Cut(filepath.ToSlash(place), "/")
		if found, ok := Original(root, image); ok {
			image = found
		}
		return image, nested
	}
}
