package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Set says what Generate wrote, and where.
type Set struct {
	Base   string // folder of labelled pictures of the base session, one folder a class
	New    string // folder of five labelled pictures of each new class
	Photos string // folder of pictures to be labelled, a broken one, and a text file
	Truth  string // file that lists the good photos with their classes
	Shown  []Photo
}

// Photo is a good picture of Photos and the truth about it.
type Photo struct {
	Path  string // relative to Photos
	Class string
	Known bool // whether the class is one of Base or New
}

// Generate draws the image collection into dir, creating it when needed. The
// same seed gives the same files. Files that already hold the right bytes are
// left untouched, so that a second run finds an unchanged folder; other files
// in dir are left alone. When ctx is cancelled, Generate finishes the pictures
// that it is drawing and returns the error of ctx.
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

// writeIfChanged gives a file its final name only once it is complete. It does
// not force it to disk: the file can be made again.
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
