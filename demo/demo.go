package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
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
	if old, err := os.ReadFile(file); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	partial := file + ".partial"
	if err := os.WriteFile(partial, data, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, file)
}
