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
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
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
	how   How
	root  string // of the images, absolute
	old   string
	again bool // a job has finished here, so that the old tree is one of ours
	dir   *atomicfile.Dir
	made  map[string]bool // folders
}

// NewTree begins a tree at dir, in the folder of a job, for images below root, which
// must not be in the tree. Defer Abort, which does nothing after Commit.
func NewTree(how How, root, dir string) (*Tree, error) {
	if how != Links && how != Copies {
		return nil, fmt.Errorf("organise: %q is neither link nor copy", string(how))
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	if err := separate(abs, dir); err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(dir)) // leftovers only take up space
	t := &Tree{how: how, root: abs, old: dir, again: label.Finished(filepath.Dir(dir)), made: map[string]bool{}}
	if t.dir, err = atomicfile.CreateDir(dir, t.isOurs); err != nil {
		return nil, fmt.Errorf("organise: %w", err)
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
		return fmt.Errorf("%s is a link, but the class folders need a folder of their own: remove the link, or give "+
			"another --out",
			tree)
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if above, err := os.Stat(dir); err == nil && os.SameFile(info, above) {
			return fmt.Errorf("the photos in %s are inside %s, where the class folders go: give another --out", root,
				tree)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// Put adds one labelled image. A problem with this image alone is a
// *label.ItemError.
func (t *Tree) Put(row label.Scored) error {
	class, path := folderName(row.Prediction.Label), row.Sample.Path
	switch {
	case row.Rejected:
		class = unknownFolder
	case row.SetAside():
		class = asideFolder
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
// original, and not the original itself under another name.
func sameCopy(file string, original fs.FileInfo) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular() && !os.SameFile(info, original) &&
		info.Size() == original.Size() && info.ModTime().Equal(original.ModTime())
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
			info.Size(), n), os.Remove(to))}
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// Commit replaces the old tree with the new one.
func (t *Tree) Commit(embed.Outcome) error {
	if err := t.dir.Commit(); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	return nil
}

// Abort discards the new tree; the old one stays.
func (t *Tree) Abort() { t.dir.Abort() }

// isOurs reports whether a file of the old tree can be removed without loss: a link
// to a photo that a run made, or a copy that is equal to a photo.
func (t *Tree) isOurs(place, name string, e fs.DirEntry) bool {
	image, nested := imageOf(place)
	if !t.again || !nested {
		return false
	}
	photo := dataset.FullPath(t.root, image)
	info, err := os.Stat(photo)
	if e.Type()&fs.ModeSymlink == 0 {
		return err == nil && sameCopy(name, info) && sameBytes(name, photo)
	}
	if err == nil && info.IsDir() {
		return false
	}
	target, err := os.Readlink(name)
	// As placeOf names images from outside the folder.
	outside := placeOf("", filepath.ToSlash(target)) == filepath.FromSlash(image)
	return err == nil && (outside || target == photo)
}

// Folders of the images that are rejected, and of those that people set aside. No class
// folder has these names: folderName escapes a leading underscore.
const (
	unknownFolder = "_rejected"
	asideFolder   = "_set-aside"
)

// folderName turns a class name into a safe folder name; different classes have
// different names.
func folderName(class string) string {
	if class == "" {
		return "%"
	}
	var b strings.Builder
	device := isDevice(class)
	for i := range len(class) {
		c := class[i]
		switch {
		case c < 0x20 || c == 0x7f || strings.IndexByte(`/\%:*?"<>|`, c) >= 0,
			i == 0 && (device || c == '.' || c == '_' || c == '-' || c == ' '),
			i == len(class)-1 && (c == '.' || c == ' '):
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		default:
			b.WriteByte(c)
		}
	}
	return shortened(b.String())
}

// isDevice reports whether Windows takes a name, with any suffix, for a device.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port := strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")
	return port && len(base) == 4 && base[3] >= '1' && base[3] <= '9'
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
