package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// Set describes what Generate wrote, and where.
type Set struct {
	Base   string // folder of labelled pictures of the base session, one folder per class
	New    string // folder of five labelled pictures of each new class
	Photos string // folder of pictures to label, a broken one, and a text file
	Truth  string // file that lists the valid photos with their classes
	Shown  []Photo
}

// Photo is a valid picture in Photos with its true class.
type Photo struct {
	Path  string // relative to Photos
	Class string
	Known bool // whether the class is one of Base or New
}

// Generate draws the image collection into dir, creating it if needed. The same
// seed gives the same files. Files that already have the right content are left
// untouched, so a second run changes nothing; other files in dir are left
// alone. When ctx is cancelled, Generate finishes the pictures it is drawing
// and returns ctx's error.
func Generate(ctx context.Context, dir string, seed uint64) (Set, error) {
	files, shown := plan(seed)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			data, err := f.bytes(seed)
			if err != nil {
				return fmt.Errorf("%s: %w", f.path, err)
			}
			return writeIfChanged(filepath.Join(dir, filepath.FromSlash(f.path)), data)
		})
	}
	if err := group.Wait(); err != nil {
		return Set{}, fmt.Errorf("generate demo images in %s: %w", dir, err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	return Set{Base: in("base"), New: in("new"), Photos: in("photos"), Truth: in("truth.csv"), Shown: shown}, nil
}

// writeIfChanged writes a file whose content has changed and gives it its final
// name only once it is complete. It does not sync it to disk, since the file
// can be regenerated.
func writeIfChanged(file string, data []byte) error {
	if old, err := regularfile.Read(file, int64(len(data))); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	partial := file + ".partial"
	err := os.WriteFile(partial, data, 0o644)
	if err == nil {
		err = atomicfile.Rename(partial, file)
	}
	if err != nil {
		_ = atomicfile.Remove(partial) // the first error counts
	}
	return err
}

// How many pictures there are of each class.
const (
	basePerClass     = 30
	shotsPerNewClass = 5
	photosPerClass   = 8
	photosPerUnknown = 10
)

// file is one file of the collection: a picture of a class, or a text.
type file struct {
	path   string // relative to the collection, with forward slashes
	class  class
	broken bool // truncate the picture
	text   string
}

// bytes returns the content of a file.
func (f file) bytes(seed uint64) ([]byte, error) {
	if f.text != "" {
		return []byte(f.text), nil
	}
	data, err := f.class.render(seed, f.path)
	if err == nil && f.broken {
		data = data[:len(data)/3]
	}
	return data, err
}

// plan lists every file of the collection, and what the photos show.
func plan(seed uint64) ([]file, []Photo) {
	var files []file
	for _, c := range baseClasses {
		for i := range basePerClass {
			files = append(files, file{path: fmt.Sprintf("base/%s/%02d.jpg", c.name, i+1), class: c})
		}
	}
	for _, c := range newClasses {
		for i := range shotsPerNewClass {
			files = append(files, file{path: fmt.Sprintf("new/%s/%02d.jpg", c.name, i+1), class: c})
		}
	}
	known := slices.Repeat(slices.Concat(baseClasses, newClasses), photosPerClass)
	all := slices.Concat(known, slices.Repeat(unknownClasses, photosPerUnknown))
	var shown []Photo
	truth := "path,label\n"
	for i, k := range rand.New(rand.NewPCG(seed, 0x5eed)).Perm(len(all)) {
		photo := Photo{Path: fmt.Sprintf("IMG_%04d.jpg", i+1), Class: all[k].name, Known: k < len(known)}
		files = append(files, file{path: "photos/" + photo.Path, class: all[k]})
		shown = append(shown, photo)
		truth += photo.Path + "," + photo.Class + "\n"
	}
	return append(files,
		file{path: "truth.csv", text: truth},
		file{path: "photos/IMG_9998.jpg", class: baseClasses[0], broken: true},
		file{path: "photos/notes.txt", text: "This file is not a picture: labelling skips and counts it.\n"}), shown
}
