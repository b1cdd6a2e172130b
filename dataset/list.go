package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// ReadList reads a list of images that lie under root. The file is one of
//
//   - CSV with a header line that has a column "path" and, in any order,
//     optionally "label", "split", "session" (other columns are ignored),
//   - plain lines, each a path, or a path, a tab and a label.
//
// Blank lines and lines that start with "#" are ignored; a byte order mark and
// CR LF line endings are accepted. Paths are relative to root or absolute; only
// an absolute one may lead outside root, and is then absolute in Sample.Path.
// Without a label column or tab the label is the name of the folder that
// contains the file. In CSV, a path that does not exist as written is tried
// unescaped (UnescapePath) and without a leading apostrophe, so that labels.csv
// can serve as a list.
//
// A path that is missing, not a regular file, escapes root by "..", or is
// repeated with another label is a Problem that names the line; a path with two
// labels is left out. A plain repetition counts as skipped "repeated". When no line is usable the error
// wraps ErrNoImages and the Listing still has the Problems.
func ReadList(file, root string) (Listing, error) {
	f, _, err := regularfile.Open(file)
	if err != nil {
		return Listing{}, fmt.Errorf("read list: %w", err)
	}
	defer f.Close()
	if info, err := os.Stat(root); err != nil {
		return Listing{}, rootError(root, err)
	} else if !info.IsDir() {
		return Listing{}, fmt.Errorf("read list %s: root %s: %w", file, root, ErrNotFolder)
	}
	rows, err := parseList(f)
	if err != nil {
		return Listing{}, fmt.Errorf("read list %s: %w", file, err)
	}
	absRoot, err := filepath.Abs(root)
	if err != nil {
		return Listing{}, fmt.Errorf("read list %s: %w", file, err)
	}
	r := listReader{name: filepath.Base(file), root: absRoot, listing: newListing(root), seen: map[string]listed{}, refused: map[string]bool{}}
	for _, row := range rows {
		r.add(row)
	}
	r.listing.Samples = slices.DeleteFunc(r.listing.Samples, func(s Sample) bool { return r.refused[s.Path] })
	r.listing.sort()
	if len(r.listing.Samples) == 0 {
		return r.listing, fmt.Errorf("read list %s: %w in it that can be used (%d lines have problems)",
			file, ErrNoImages, len(r.listing.Problems))
	}
	return r.listing, nil
}

// ReadPaths returns the paths of a list as they are written, without their labels.
// The files need not exist.
func ReadPaths(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	defer f.Close()
	rows, err := parseList(f)
	if err != nil {
		return nil, fmt.Errorf("read list %s: %w", file, err)
	}
	paths := make([]string, len(rows))
	for i, row := range rows {
		paths[i] = row.sample.Path
	}
	return paths, nil
}

type listReader struct {
	name, root string
	listing    Listing
	seen       map[string]listed // by path
	refused    map[string]bool   // paths with several labels
}

// listed is where a path was listed first: its line and its index in
// listing.Samples.
type listed struct{ line, index int }

func (r *listReader) add(row listRow) {
	sample, err := r.sample(row)
	if err != nil {
		r.listing.problem(row.sample.Path, fmt.Errorf("line %d of %s: %w", row.line, r.name, err))
		return
	}
	first, repeated := r.seen[sample.Path]
	if !repeated {
		r.seen[sample.Path] = listed{row.line, len(r.listing.Samples)}
		r.listing.Samples = append(r.listing.Samples, sample)
		return
	}
	if before := r.listing.Samples[first.index]; before != sample {
		r.refused[sample.Path] = true
		r.listing.problem(sample.Path, fmt.Errorf("lines %d and %d of %s: listed as %q and as %q; left out, give it one label",
			first.line, row.line, r.name, before.Label, sample.Label))
		return
	}
	r.listing.Skipped["repeated"]++
}

// sample checks one row and resolves its path and label.
func (r *listReader) sample(row listRow) (Sample, error) {
	s := row.sample
	rel, err := r.locate(s.Path)
	if row.csv && errors.Is(err, fs.ErrNotExist) {
		rel, err = r.locateAsWritten(s.Path, err)
	}
	if err != nil {
		return Sample{}, err
	}
	s.Path = rel
	if !row.labelled {
		s.Label = parentName(rel)
	}
	return s, nil
}

// locateAsWritten undoes what labels.csv does to a path: escaping, and the
// apostrophe that protects spreadsheets. If that path does not exist either, it
// returns err.
func (r *listReader) locateAsWritten(cell string, err error) (string, error) {
	bare := PlainCell(cell)
	for _, name := range []string{UnescapePath(cell), bare, UnescapePath(bare)} {
		if rel, errName := r.locate(name); !errors.Is(errName, fs.ErrNotExist) {
			return rel, errName
		}
	}
	return "", err
}

// locate turns a listed path into Sample.Path and checks that a regular file
// is there.
func (r *listReader) locate(listed string) (string, error) {
	rel, err := relativeTo(r.root, listed)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(FullPath(r.root, rel))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w under %s", listed, fs.ErrNotExist, r.root)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", listed, regularfile.Cause(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file", listed)
	}
	return rel, nil
}

func relativeTo(root, listed string) (string, error) {
	if !filepath.IsAbs(listed) {
		rel := path.Clean(filepath.ToSlash(listed))
		if rel == ".." || strings.HasPrefix(rel, "../") {
			return "", fmt.Errorf("%s leads out of the image folder; give an absolute path if that is intended", listed)
		}
		return rel, nil
	}
	rel, err := filepath.Rel(root, listed)
	if err != nil || rel == ".." || strings.HasPrefix(filepath.ToSlash(rel), "../") {
		return filepath.ToSlash(filepath.Clean(listed)), nil
	}
	return filepath.ToSlash(rel), nil
}

// FullPath returns the path of a Sample's file: Sample.Path may be absolute
// when it comes from a list.
func FullPath(root, samplePath string) string {
	local := filepath.FromSlash(samplePath)
	if filepath.IsAbs(local) {
		return local
	}
	return filepath.Join(root, local)
}

func parentName(rel string) string {
	dir := path.Base(path.Dir(rel))
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}
