package dataset

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A View is what somebody who looks for a folder of photos sees of one.
type View struct {
	// Folders are those in it, by name, without hidden ones and those that systems leave.
	Folders []SubFolder
	// Photos counts the files in it, and in folders below, that have the name of a photo.
	Photos int
	// More reports that there is more than was looked at: Photos is at least so many, and
	// Folders may lack some.
	More bool
}

// A SubFolder is a folder in a View.
type SubFolder struct {
	Name string
	// Photos and More are as in View.
	Photos int
	More   bool
	// Link is where a symbolic link leads, "" for a folder. What is there is not counted.
	Link string
	// Err says why the folder cannot be read, nil if it can.
	Err error
}

// Bounds of a Glance: names read of the folder itself, and below it in all and in each of
// its folders.
const (
	glanceEntries = 100_000
	glanceBelow   = 50_000
	glanceEach    = 5_000
	glanceBatch   = 512 // names read at a time
)

// Glance looks into a folder, and estimates how many photos are there. No file is opened,
// and no symbolic link is followed. It looks at 150 000 names at most.
func Glance(ctx context.Context, dir string) (View, error) {
	return glance{ctx, func(dir string) (folderNames, error) { return regularfile.Folder(dir) }}.view(dir)
}

// folderNames are the names in a folder.
type folderNames interface {
	ReadDir(n int) ([]fs.DirEntry, error)
	io.Closer
}

type glance struct {
	ctx  context.Context
	open func(dir string) (folderNames, error)
}

func (g glance) view(dir string) (v View, err error) {
	left := glanceEntries
	var here photoCount
	folders, err := g.read(dir, &left, here.add, func(e fs.DirEntry) bool {
		return e.Type()&fs.ModeSymlink != 0 && IsFolder(filepath.Join(dir, e.Name()))
	})
	if err != nil {
		return View{}, err
	}
	v.Photos, v.More = here.photos(), left <= 0
	slices.SortFunc(folders, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	left = glanceBelow
	for _, e := range folders {
		sub := SubFolder{Name: e.Name()}
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			each := min(glanceEach, left)
			left -= each
			sub.Photos, sub.Err = g.count(path, &each)
			sub.More = each <= 0
			left += max(0, each)
		} else if sub.Link, err = os.Readlink(path); err != nil {
			sub.Err = err
		}
		v.Folders, v.Photos, v.More = append(v.Folders, sub), v.Photos+sub.Photos, v.More || sub.More
	}
	return v, g.ctx.Err()
}

// count counts the photos in a folder and below it, until as many names as are left have
// been read. Folders below that cannot be read count as empty.
func (g glance) count(dir string, left *int) (photos int, err error) {
	var here photoCount
	folders, err := g.read(dir, left, here.add, func(fs.DirEntry) bool { return false })
	photos = here.photos()
	for _, e := range folders {
		if *left <= 0 || g.ctx.Err() != nil {
			break
		}
		n, _ := g.count(filepath.Join(dir, e.Name()), left)
		photos += n
	}
	return photos, err
}

// read passes on the files of a folder, and returns the folders in it, and what else
// counts as one.
func (g glance) read(dir string, left *int, file func(fs.DirEntry),
	alsoFolder func(fs.DirEntry) bool) (folders []fs.DirEntry, err error) {
	if *left <= 0 {
		return nil, nil
	}
	f, err := g.open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for *left > 0 && g.ctx.Err() == nil {
		entries, err := f.ReadDir(min(glanceBatch, *left))
		*left -= len(entries)
		for _, e := range entries {
			switch name := e.Name(); {
			case hiddenName(name) || systemFolder(name):
			case e.IsDir() || alsoFolder(e):
				folders = append(folders, e)
			default:
				file(e)
			}
		}
		switch {
		case errors.Is(err, io.EOF) || err == nil && len(entries) == 0:
			*left = max(*left, 1) // it was read to its end
			return folders, nil
		case err != nil:
			return folders, err
		}
	}
	return folders, nil
}

// A photoCount counts the photos of a folder: cameras may write each as a picture and as a raw photo.
type photoCount struct{ pictures, raw int }

func (c *photoCount) add(e fs.DirEntry) {
	switch kind := kindByName(e.Name()); {
	case !e.Type().IsRegular():
	case kind == kindImage:
		c.pictures++
	case kind == kindRaw:
		c.raw++
	}
}

func (c photoCount) photos() int { return max(c.pictures, c.raw) }

// IsFolder reports whether a path is that of a folder, or of a link to one.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
