package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// ListOptions say how a list is read. The zero value guesses.
type ListOptions struct {
	// PathColumn and LabelColumn name columns of a table, or number them from 1.
	// "" takes the columns "path" and "label", else guesses.
	PathColumn, LabelColumn string
	// PathSuffix is appended to paths that do not end in it; "" guesses.
	PathSuffix string
	// ClassFrom names the classes of images without a label; "" means
	// ClassFromLeaf, whatever the columns.
	ClassFrom ClassFrom
	// LabelsOptional ignores columns of which any could be the labels, rather
	// than refuse the list.
	LabelsOptional bool
	// Boxes accepts paths of boxes, photo.jpg#1.
	Boxes bool
	// Decided ignores labels that nobody gave but the program: predictions, and what was
	// accepted in bulk. In labels.csv a label counts that is not the predicted one, since a
	// person has corrected that.
	Decided bool
}

// ReadList reads a list of images that lie under root: plain lines, each a path,
// or a path, a tab and a label; or a table, as CSV (separated by commas, semicolons,
// tabs or bars), JSON (lines, an array, Label Studio, COCO), CVAT's XML or Parquet.
// docs/formats-read.md describes how the columns of a table are found; a *ColumnError says
// that they cannot be.
//
// Blank lines are ignored, and so are lines that start with "#", unless they are the
// path of a file or a row of a table. Paths are relative to root or absolute; only
// an absolute one may lead outside root, and is then absolute in Sample.Path. In a table
// paths and labels are unescaped (UnescapePath) and lose a leading apostrophe (plainCell),
// so that labels.csv can serve as a list; a path that does not exist so is tried as
// written, and with slashes for backslashes.
//
// A path that is missing, not a regular file, escapes root by "..", or is
// repeated with another label is a Problem that names the line; a path with two
// labels is left out; annotations of COCO and observations of Camtrap DP are each of a thing
// in a photo, and are joined. A plain repetition counts as skipped "repeated". A list of
// which no path exists is an error. When no line is usable for another reason the
// error wraps ErrNoImages and the Listing still has the Problems.
func ReadList(file, root string, opts ListOptions) (Listing, error) {
	f, size, err := regularfile.Open(file)
	if err != nil {
		return Listing{}, fmt.Errorf("read list: %w", err)
	}
	defer f.Close()
	return listOf(f, size, listFile{file, filepath.Dir(file)}, root, opts)
}

// A listFile is the name of a list, and the folder in which it lies.
type listFile struct{ name, dir string }

// ReadListFrom is ReadList of a stream, such as standard input, which it reads to its
// end first. The list is called name in errors.
func ReadListFrom(in io.Reader, name, root string, opts ListOptions) (Listing, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return Listing{}, fmt.Errorf("read list %s: %w", name, err)
	}
	return listOf(bytes.NewReader(text), int64(len(text)), listFile{name: name}, root, opts)
}

func listOf(f io.ReaderAt, size int64, list listFile, root string, opts ListOptions) (Listing, error) {
	file := list.name
	if info, err := os.Stat(root); err != nil {
		return Listing{}, rootError(root, err)
	} else if !info.IsDir() {
		return Listing{}, fmt.Errorf("read list %s: root %s: %w", file, root, ErrNotFolder)
	}
	absRoot, err := filepath.Abs(root)
	if err != nil {
		return Listing{}, fmt.Errorf("read list %s: %w", file, err)
	}
	r := listReader{name: filepath.Base(file), dir: list.dir, root: absRoot, rootName: folderName(absRoot), opts: opts,
		listing: newListing(root), seen: map[string]listed{}, folders: folderIndex{}, several: map[int][]string{},
		refused: map[string]bool{}, addresses: map[string]addressed{}, unusable: map[string]bool{},
		most: max(leastProblems, int(size/bytesPerProblem))}
	if err := r.read(f, size); err != nil {
		return Listing{}, fmt.Errorf("read list %s: %w", file, err)
	}
	for i, labels := range r.several {
		r.listing.Samples[i].label(labels)
	}
	r.listing.Samples = slices.DeleteFunc(r.listing.Samples, func(s Sample) bool { return r.refused[s.Path] })
	r.listing.sort()
	switch n := len(r.listing.Problems); {
	case len(r.listing.Samples) > 0:
	case n > 0 && n == r.missing:
		err = r.noneExists(file)
	default:
		err = fmt.Errorf("read list %s: %w in it that can be used (%d lines have problems)", file, ErrNoImages, n)
	}
	return r.listing, err
}

// ReadPaths returns the paths of a list, unescaped, without their labels. The files need
// not exist.
func ReadPaths(file string, opts ListOptions) (paths []string, err error) {
	f, size, err := regularfile.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	defer f.Close()
	opts.LabelsOptional = true
	g := guesser{opts, func(string, string) bool { return false }, filepath.Dir(file), ""}
	err = eachListed(f, size, g, func(row listRow) error {
		paths = append(paths, row.plain(row.sample.Path))
		return checkPath(row.sample.Path)
	})
	if err != nil {
		return nil, fmt.Errorf("read list %s: %w", file, err)
	}
	return paths, nil
}

// An addressed photo is one that the list names by an address of the web or of Label Studio; alone means
// that only the name of its file is that of the address.
type addressed struct {
	address, rel string
	alone        bool
}

type listReader struct {
	name, root string
	dir        string // of the list, "" if it is in none
	rootName   string
	opts       ListOptions
	listing    Listing
	seen       map[string]listed // by path
	several    map[int][]string  // labels of samples of which several rows tell, by index
	refused    map[string]bool   // paths with several labels
	addresses  map[string]addressed
	folders    folderIndex
	unusable   map[string]bool // cells of which no file can be used
	most       int             // problems
	unused     int             // bytes of these cells
	missing    int
	first      string // path that is missing
}

func (r *listReader) read(file io.ReaderAt, size int64) error {
	g := guesser{r.opts, func(cell, suffix string) bool {
		_, err := r.photo(cell, suffix, false)
		return err == nil
	}, r.dir, r.root}
	return eachListed(file, size, g, func(row listRow) error {
		r.listing.Guessed = row.guessed
		r.add(row)
		if n := len(r.listing.Problems); n > r.most || r.unused > mostUnused {
			return fmt.Errorf("more than %d of its %ss cannot be used; the first: %w", min(n-1, r.most), row.unit,
				r.listing.Problems[0].Err)
		}
		return nil
	})
}

// listed is where a path was listed first: its line or row, and its index in
// listing.Samples.
type listed struct{ number, index int }

// leastProblems and bytesPerProblem bound the problems of a list. Only compressed ones, in
// which a path may take a few bits, have more. mostUnused bounds the bytes of their paths.
const leastProblems, bytesPerProblem, mostUnused = 100_000, 8, 32 << 20

func (r *listReader) add(row listRow) {
	cell := row.sample.Path
	if row.err != nil {
		r.problem(row, row.err)
		return
	}
	if r.unusable[cell] {
		r.listing.Skipped["repeated"]++
		return
	}
	sample, err := r.sample(row)
	if err != nil {
		r.unusable[cell] = true
		if errors.Is(err, fs.ErrNotExist) {
			r.missing++
		}
		r.problem(row, err)
		return
	}
	first, repeated := r.seen[sample.Path]
	if !repeated {
		r.seen[sample.Path] = listed{row.number, len(r.listing.Samples)}
		r.listing.Samples = append(r.listing.Samples, sample)
		return
	}
	before := r.listing.Samples[first.index]
	sample.Taken = before.Taken
	switch {
	case row.more:
		if r.several[first.index] == nil {
			r.several[first.index] = before.labels()
		}
		r.several[first.index] = append(r.several[first.index], sample.labels()...)
	case before == sample:
		r.listing.Skipped["repeated"]++
	default:
		r.refused[sample.Path] = true
		r.listing.problem(sample.Path,
			fmt.Errorf("%ss %d and %d of %s: listed as %q and as %q; left out, give it one label",
				row.unit, first.number, row.number, r.name, shown(cmp.Or(before.Label, before.Several)),
				shown(cmp.Or(sample.Label, sample.Several))))
	}
}

// problem leaves out a row.
func (r *listReader) problem(row listRow, err error) {
	r.unused += len(row.sample.Path)
	r.listing.problem(shown(row.sample.Path), fmt.Errorf("%s %d of %s: %w", row.unit, row.number, r.name, err))
}

// sample checks one row and resolves its path and label.
func (r *listReader) sample(row listRow) (Sample, error) {
	s := row.sample
	rel, err := r.photo(s.Path, row.suffix, row.literal)
	if errors.Is(err, fs.ErrNotExist) && r.first == "" {
		r.first = filepath.ToSlash(strings.ReplaceAll(withSuffix(s.Path, row.suffix), `\`, "/"))
	}
	if err != nil {
		return Sample{}, err
	}
	s.Path = rel
	if row.predicted {
		if s.Label != "" || s.Several != "" {
			r.listing.Predicted++
		}
		s.Label, s.Several = "", ""
		return s, nil
	}
	s.SetAside = row.setAside && row.labelled && s.Label == "" && s.Several == ""
	if !row.labelled {
		s.Label = cmp.Or(r.opts.ClassFrom, ClassFromLeaf).class(r.rootName, rel)
	}
	return s, nil
}

func withSuffix(name, suffix string) string {
	if strings.HasSuffix(name, suffix) {
		return name
	}
	return name + suffix
}

// find returns the Sample.Path that a cell means. Unless it is literal, that is first what
// labels.csv would mean by it, without escaping and the apostrophe that protects
// spreadsheets; then the cell as written; then with slashes for backslashes, in another
// encoding, or as the address of a server whose photos these are.
func (r *listReader) find(cell, suffix string, literal bool) (string, error) {
	if _, ok := r.seen[cell]; ok && strings.HasSuffix(cell, suffix) &&
		(literal || plainCell(cell) == cell && UnescapePath(cell) == cell) {
		return cell, nil // there is a file of that name
	}
	var names []string
	if bare := plainCell(cell); !literal {
		names = append(names, UnescapePath(bare), UnescapePath(cell), bare)
	}
	names = append(names, cell)
	if strings.Contains(cell, `\`) {
		names = append(names, strings.ReplaceAll(cell, `\`, "/"))
	}
	if !literal {
		names = append(names, strings.TrimSpace(cell))
	}
	var addresses []string
	if !literal && (suffix == r.opts.PathSuffix || strings.HasSuffix(cell, suffix)) { // an address lacks none
		addresses = hosted(cell)
		names = append(names, addresses...)
	}
	if !literal {
		names = append(names, r.below(cell)...)
	}
	if !utf8.ValidString(cell) {
		names = append(names, windows1252(cell))
	}
	missing := fmt.Errorf("%s: %w", shown(cell), fs.ErrNotExist)
	for i, name := range names {
		if slices.Contains(names[:i], name) || name == "" {
			continue
		}
		rel, err := r.locate(withSuffix(name, suffix))
		if err == nil && addresses != nil {
			err = r.told(cell, rel)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return rel, err
		}
		if name == cell {
			missing = err
		}
	}
	if rel := r.sameText(names, suffix); rel != "" {
		return r.locate(rel)
	}
	return "", missing
}

// told returns an error if the name of a file is all that makes an address that of a photo, and there are
// several addresses of that name: it could be the photo of any of them, or of none.
func (r *listReader) told(address, rel string) error {
	name := path.Base(rel)
	before, known := r.addresses[name]
	_, at, web := strings.Cut(address, "://")
	alone := name == rel && (!web || strings.Contains(at, "/"))
	if !known {
		r.addresses[name] = addressed{address, rel, alone}
		return nil
	}
	if before.address == address || !alone && !before.alone {
		return nil
	}
	err := fmt.Errorf("%s: the list has several photos of this name, and one folder of them does not say which it is: "+
		"keep their folders, or give the list a column of paths", shown(name))
	if before.alone && !r.refused[before.rel] {
		r.refused[before.rel] = true
		r.listing.problem(before.rel, err)
	}
	if alone {
		return err
	}
	return nil
}

// below returns the paths that a cell means if it begins above the root, as ph/st1/a.jpg does in a folder
// ph, or is of another machine: C:\\Users\\me\\ph\\st1\\a.jpg. The name of a file alone is not enough, since
// other folders may have one of the same name.
func (r *listReader) below(cell string) (paths []string) {
	if len(cell) < 3 || !strings.ContainsAny(cell, `/\`) {
		return nil
	}
	name := strings.ReplaceAll(cell, `\`, "/")
	if absolute(name) {
		tails := tails(name)
		return tails[:len(tails)-1]
	}
	root := filepath.ToSlash(r.root)
	for at := 0; at < min(len(name), len(root)); at++ {
		if name[at] == '/' && strings.HasSuffix(root, name[:at]) && root[len(root)-at-1] == '/' {
			paths = append(paths, name[at+1:])
		}
	}
	return paths
}

// sameText returns the path of a file whose name is that of one of some names in another
// Unicode form, "" if there is none.
func (r *listReader) sameText(names []string, suffix string) string {
	for _, name := range names {
		rel, err := relativeTo(r.root, withSuffix(name, suffix))
		if isASCII(name) || err != nil || filepath.IsAbs(filepath.FromSlash(rel)) {
			continue
		}
		if found := r.folders.find(r.root, rel); found != "" {
			return found
		}
	}
	return ""
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
		return "", fmt.Errorf("%s: %w under %s", shown(listed), fs.ErrNotExist, r.root)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown(listed), regularfile.Cause(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file", listed)
	}
	return rel, nil
}
