package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// ScanOptions narrows a Scan.
type ScanOptions struct {
	// Exclude lists folders that are not entered although they lie under the
	// root, for instance the output folder of the run.
	Exclude []string
}

// Scan finds the images under root. The class of an image is the first-level
// sub-folder that it lies in, "" directly under the root.
//
// Symbolic links to files count as files. A linked folder is entered once,
// after all real folders; a loop is a Problem. Pipes, sockets and devices are
// never opened. Files are not opened at all, except those without an
// extension (16 bytes).
//
// The order, and with it every result, is the same on every run. When nothing
// is found the error wraps ErrNoImages and the Listing still says what was
// skipped. Memory is one Sample a file plus the names of one folder chain.
func Scan(ctx context.Context, root string, opts ScanOptions) (Listing, error) {
	info, err := os.Stat(root)
	if err != nil {
		return Listing{}, rootError(root, err)
	}
	if !info.IsDir() {
		return Listing{}, fmt.Errorf("scan %s: %w (to label single files, name them in a --list file)", root, ErrNotFolder)
	}
	s := &scanner{ctx: ctx, listing: newListing(root), visited: map[fileID]bool{}}
	if err := s.exclude(opts.Exclude); err != nil {
		return Listing{}, err
	}
	s.pending = []folder{{rel: "", id: idOf(root, info)}}
	if err := s.run(); err != nil {
		return Listing{}, err
	}
	s.listing.sort()
	if len(s.listing.Samples) == 0 {
		return s.listing, fmt.Errorf("scan %s: %w there (skipped: %s; problems: %d)",
			root, ErrNoImages, s.listing.skippedText(), len(s.listing.Problems))
	}
	return s.listing, nil
}

func rootError(root string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("scan %s: %w", root, ErrNoRoot)
	}
	return fmt.Errorf("scan %s: %w", root, err)
}

// A folder waits to be read. Its parents, as they were reached, tell a loop
// from a folder that two links lead to.
type folder struct {
	rel    string
	id     fileID
	parent *folder
}

func (f *folder) insideOf(id fileID) bool {
	for p := f; p != nil; p = p.parent {
		if p.id == id {
			return true
		}
	}
	return false
}

type scanner struct {
	ctx      context.Context
	listing  Listing
	excluded map[fileID]bool
	visited  map[fileID]bool
	pending  []folder // linked folders, in the order they were found
}

func (s *scanner) exclude(folders []string) error {
	s.excluded = map[fileID]bool{}
	for _, dir := range folders {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("exclude %s: %w", dir, err)
		}
		s.excluded[idOf(dir, info)] = true
	}
	return nil
}

func (s *scanner) run() error {
	for len(s.pending) > 0 {
		next := s.pending[0]
		s.pending = s.pending[1:]
		if err := s.enter(next); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) full(rel string) string {
	return filepath.Join(s.listing.Root, filepath.FromSlash(rel))
}

// enter reads one folder unless it was read before.
func (s *scanner) enter(f folder) error {
	switch {
	case f.parent != nil && s.excluded[f.id]:
		s.listing.Skipped["excluded"]++
		return nil
	case f.parent != nil && f.parent.insideOf(f.id):
		s.listing.problem(f.rel, fmt.Errorf("%s: symbolic link loop: it leads back to a folder that contains it", f.rel))
		return nil
	case s.visited[f.id]:
		s.listing.Skipped["linked twice"]++
		return nil
	}
	s.visited[f.id] = true
	entries, err := os.ReadDir(s.full(f.rel))
	if err != nil {
		s.listing.problem(f.rel, fmt.Errorf("read folder %s: %w", orDot(f.rel), cause(err)))
	}
	for _, e := range entries {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if err := s.entry(&f, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) entry(parent *folder, e fs.DirEntry) error {
	rel := path.Join(parent.rel, e.Name())
	if hiddenName(e.Name()) {
		s.listing.Skipped["hidden"]++
		return nil
	}
	switch {
	case e.IsDir():
		return s.subfolder(parent, rel)
	case e.Type()&fs.ModeSymlink != 0:
		s.link(parent, rel)
	case e.Type().IsRegular():
		s.file(rel)
	default:
		s.listing.Skipped["special"]++
	}
	return nil
}

func (s *scanner) subfolder(parent *folder, rel string) error {
	info, err := os.Lstat(s.full(rel))
	if err != nil {
		s.listing.problem(rel, fmt.Errorf("read folder %s: %w", rel, cause(err)))
		return nil
	}
	return s.enter(folder{rel: rel, id: idOf(s.full(rel), info), parent: parent})
}

// link treats a link as what it leads to.
func (s *scanner) link(parent *folder, rel string) {
	info, err := os.Stat(s.full(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.listing.problem(rel, fmt.Errorf("%s: broken symbolic link: what it points to does not exist", rel))
	case errors.Is(err, syscall.ELOOP):
		s.listing.problem(rel, fmt.Errorf("%s: symbolic link loop: it leads back to itself", rel))
	case err != nil:
		s.listing.problem(rel, fmt.Errorf("follow symbolic link %s: %w", rel, cause(err)))
	case info.IsDir():
		s.pending = append(s.pending, folder{rel: rel, id: idOf(s.full(rel), info), parent: parent})
	case info.Mode().IsRegular():
		s.file(rel)
	default:
		s.listing.Skipped["special"]++
	}
}

func (s *scanner) file(rel string) {
	kind := kindByName(path.Base(rel))
	if kind == "" {
		var err error
		if kind, err = kindByContent(s.full(rel)); err != nil {
			s.listing.problem(rel, fmt.Errorf("look into %s: %w", rel, cause(err)))
			return
		}
	}
	if kind != kindImage {
		s.listing.Skipped[kind]++
		return
	}
	s.listing.Samples = append(s.listing.Samples, Sample{Path: rel, Label: firstFolder(rel)})
}

// firstFolder is the class by folder: "cat" of "cat/a/b.jpg", "" of "b.jpg".
func firstFolder(rel string) string {
	class, _, nested := strings.Cut(rel, "/")
	if !nested {
		return ""
	}
	return class
}

// cause drops the full path from a path error whose message names the entry
// already.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func orDot(rel string) string {
	if rel == "" {
		return "."
	}
	return rel
}
