package demo

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Set says what Generate wrote and what only the painter knows.
type Set struct {
	Dir  string // the folder given to Generate
	Seed uint64
	// Base, New and Unknown are the class names in alphabetical order: taught
	// first, taught later from a few shots, and never taught.
	Base, New, Unknown []string
	// BaseImages, NewImages and TestImages count the labelled pictures in
	// BaseDir, NewDir and TestDir.
	BaseImages, NewImages, TestImages int
	// Photos are the good pictures of PhotosDir by path, with what they show.
	Photos []Photo
}

// Photo is an unlabelled picture and the truth about it.
type Photo struct {
	Path  string // relative to PhotosDir
	Class string
}

// BaseDir holds the labelled pictures of the base session, one folder a class.
func (s Set) BaseDir() string { return filepath.Join(s.Dir, "base") }

// NewDir holds five labelled pictures of each new class.
func (s Set) NewDir() string { return filepath.Join(s.Dir, "new") }

// PhotosDir holds unlabelled pictures, a broken one, and a text file.
func (s Set) PhotosDir() string { return filepath.Join(s.Dir, "photos") }

// TestDir holds labelled pictures of all classes, the unknown ones too.
func (s Set) TestDir() string { return filepath.Join(s.Dir, "test") }

// Generate paints the image collection into dir, creating it when needed. The
// same seed gives the same files. Files that already hold the right bytes are
// left untouched, so that a second run finds an unchanged folder; other files
// in dir are left alone. When ctx is cancelled, Generate returns its error after
// the pictures in hand.
func Generate(ctx context.Context, dir string, seed uint64) (Set, error) {
	set, jobs := plan(dir, seed)
	if err := runAll(ctx, jobs, dir, seed); err != nil {
		return Set{}, fmt.Errorf("generate demo images in %s: %w", dir, err)
	}
	return set, nil
}

// runAll does the jobs on all cores and starts no more after a failure.
func runAll(ctx context.Context, jobs []job, dir string, seed uint64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, j := range jobs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return j.run(dir, seed)
		})
	}
	return group.Wait()
}

// run paints one picture and writes it.
func (j job) run(dir string, seed uint64) error {
	data, err := j.bytes(seed)
	if err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	return writeIfChanged(filepath.Join(dir, filepath.FromSlash(j.path)), data)
}

// writeIfChanged gives a file its final name only once it is complete. It does
// not force it to disk: the file can be painted again.
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

// bytes makes the contents of a file.
func (j job) bytes(seed uint64) ([]byte, error) {
	if j.text != "" {
		return []byte(j.text), nil
	}
	data, err := j.class.picture(seed, j.name)
	if err == nil && j.broken {
		data = data[:len(data)/3]
	}
	return data, err
}

func jpegName(i int) string { return fmt.Sprintf("%02d.jpg", i+1) }

func join(parts ...string) string { return path.Join(parts...) }
