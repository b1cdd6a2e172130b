package organise

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// How says what lies in the class folders.
type How string

// Links are symbolic links to the photos, Copies are files of their own with
// the time stamps of the photos.
const (
	Links  How = "link"
	Copies How = "copy"
)

// A Tree is class folders in the making. An image lies at its own path below
// its class folder, so that names never collide.
type Tree struct {
	how  How
	root string // of the images, absolute
	old  string
	dir  *atomicfile.Dir
	made map[string]bool // folders
}

// NewTree begins a tree at dir for images below root. Call Abort (a no-op after
// Commit) in a defer.
func NewTree(how How, root, dir string) (*Tree, error) {
	if how != Links && how != Copies {
		return nil, fmt.Errorf("organise: %q is neither link nor copy", string(how))
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	_, _ = atomicfile.RemoveStale(filepath.Dir(dir)) // takes space only
	d, err := atomicfile.CreateDir(dir)
	if err != nil {
		return nil, fmt.Errorf("organise: %w", err)
	}
	return &Tree{how: how, root: abs, old: dir, dir: d, made: map[string]bool{}}, nil
}

// Put places one labelled image. What is wrong with the image alone is a
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

// copy takes the copy of an earlier run where that is still good.
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

// sameCopy says whether a regular file has the size and time of the original.
func sameCopy(file string, original fs.FileInfo) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() == original.Size() && info.ModTime().Equal(original.ModTime())
}

// copyFile gives the copy its time stamp last: a copy that was cut short never
// looks like a good one.
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

// Commit puts the tree in the place of the old one.
func (t *Tree) Commit(embed.Outcome) error {
	if err := t.takeOver(); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	if err := t.dir.Commit(); err != nil {
		return fmt.Errorf("organise: %w", err)
	}
	return nil
}

// Abort drops the new tree; the old one stays.
func (t *Tree) Abort() { t.dir.Abort() }

// takeOver links everything of the old tree into the new one that is not simply
// our link to, or copy of, a photo that is still there.
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

// isOurs says whether nothing is lost with an entry of the old tree.
func (t *Tree) isOurs(place, name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		image, nested := imageOf(place)
		return err == nil && nested && (target == dataset.FullPath(t.root, image) || isOutside(place, target))
	}
	image, nested := imageOf(place)
	if !nested {
		return false
	}
	info, err := os.Stat(dataset.FullPath(t.root, image))
	return err == nil && sameCopy(name, info)
}

// isOutside says whether a link is the one that placeOf names for an image from
// outside the image folder.
func isOutside(place, target string) bool {
	image, _ := imageOf(place)
	return placeOf("x", filepath.ToSlash(target)) == filepath.Join("x", filepath.FromSlash(image))
}

// linkOrCopy makes to the same as name, on file systems without hard links by
// copying.
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
