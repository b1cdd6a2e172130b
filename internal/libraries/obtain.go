package libraries

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A Target is a library to obtain, and the folder where its files belong.
type Target struct {
	Library
	Archive
	Dir string
}

// Path returns the path of the library.
func (t Target) Path() string { return filepath.Join(t.Dir, t.Contents[0].Name) }

// Present reports whether the pinned library and what it needs are there.
func (t Target) Present() bool {
	return !slices.ContainsFunc(t.Contents, func(f File) bool { return isNeeded(f) && !f.in(t.Dir) })
}

// in reports whether the pinned file is in a folder.
func (f File) in(dir string) bool {
	r, size, err := regularfile.Open(filepath.Join(dir, f.Name))
	if err != nil {
		return false
	}
	defer r.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	return err == nil && size == f.Bytes && hex.EncodeToString(sum.Sum(nil)) == f.SHA256
}

// Progress is called with the bytes read so far; total is 0 while it is unknown.
type Progress func(done, total int64)

// From obtains the wanted libraries from an http or https address of an archive, or from
// an archive (a wheel or another zip, or a tar that is compressed by xz), a folder that contains
// archives or libraries, or a library file. It returns those that it stored. It is no error if some
// are not there, but one if none is, if a file that should be one of them is not the pinned one, or
// if one is there for another platform only.
func From(ctx context.Context, source string, wanted []Target, progress Progress) (found []Target, err error) {
	s := &search{ctx: ctx, source: source, platforms: map[string][]string{}, unknown: map[string][]string{}}
	for _, t := range wanted {
		s.wanted = append(s.wanted, &wish{Target: t, stored: map[string]*atomicfile.File{}})
	}
	defer s.abort()
	err = s.read(progress)
	if err == nil || errors.Is(err, errAllFound) {
		found, err = s.commit()
	}
	if err == nil && (len(found) == 0 || s.resembling()) {
		err = s.nothing()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", withoutPassword(source), err)
	}
	return found, err
}

// ErrNone reports a source that has nothing of what is wanted, nor anything like it.
var ErrNone = errors.New("has none of the libraries")

// errAllFound ends a search early.
var errAllFound = errors.New("all libraries found")

// A search looks for the wanted libraries among files, which it recognises by their
// size, and then by their hash.
type search struct {
	ctx    context.Context
	source string
	wanted []*wish
	// platforms and unknown are what it found of other platforms and releases, by the
	// name of the library.
	platforms, unknown map[string][]string
}

// A wish is a wanted library, and those of its files that were found, under temporary names.
type wish struct {
	Target
	stored map[string]*atomicfile.File
	// damaged says what was found of it that is not the pinned file.
	damaged error
}

// missing returns the first of the files that was not found.
func (w *wish) missing(is func(File) bool) (File, bool) {
	i := slices.IndexFunc(w.Contents, func(f File) bool { return w.stored[f.Name] == nil && is(f) })
	if i < 0 {
		return File{}, false
	}
	return w.Contents[i], true
}

func (w *wish) complete() bool {
	_, missing := w.missing(isNeeded)
	return !missing
}

func isNeeded(f File) bool { return !f.licence() }

// lacks names a file that is missing of a library of which another is there.
func (w *wish) lacks() (name string, ok bool) {
	there := slices.ContainsFunc(w.Contents, func(f File) bool { return isNeeded(f) && w.stored[f.Name] != nil })
	f, missing := w.missing(isNeeded)
	return f.Name, there && missing
}

// commit gives the files of each complete library their names, and the library last: what it
// needs is there then.
func (s *search) commit() (found []Target, err error) {
	left := s.wanted[:0:0]
	for _, w := range s.wanted {
		if !w.complete() {
			left = append(left, w)
			continue
		}
		for _, f := range slices.Backward(w.Contents) {
			if stored := w.stored[f.Name]; stored != nil {
				if err := stored.Commit(); err != nil {
					return found, download.Full(err, w.Dir, f.Bytes, freeSpace)
				}
			}
		}
		found = append(found, w.Target)
	}
	s.wanted = left
	return found, nil
}

// abort removes what was not committed.
func (s *search) abort() {
	for _, w := range s.wanted {
		for _, f := range w.stored {
			f.Abort()
		}
	}
}

// resembling reports whether anything like what is still missing was there.
func (s *search) resembling() bool {
	return slices.ContainsFunc(s.wanted, func(w *wish) bool {
		_, lacks := w.lacks()
		return lacks || w.damaged != nil || len(s.platforms[w.Library.Name])+len(s.unknown[w.Library.Name]) > 0
	})
}

func (s *search) read(progress Progress) error {
	if strings.HasPrefix(s.source, "http://") || strings.HasPrefix(s.source, "https://") {
		return s.address(progress)
	}
	info, err := os.Stat(s.source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file or folder; an address starts with https:// or http://")
	case err != nil:
		return err
	case info.IsDir():
		return s.folder()
	}
	return s.file(s.source, s.source, progress)
}

// folder reads the libraries below a folder, and the archives directly in it.
func (s *search) folder() error {
	return filepath.WalkDir(s.source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if err := cmp.Or(s.ctx.Err(), s.done()); err != nil {
			return err
		}
		info, err := os.Stat(file) // also of what a link leads to
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if filepath.Dir(file) == filepath.Clean(s.source) && s.isArchive(entry.Name()) {
			return s.file(file, file, nil)
		}
		f, size, err := regularfile.Open(file)
		if err != nil {
			return nil // only matters if it is missed
		}
		defer f.Close()
		return s.offer(file, size, f)
	})
}

// isArchive reports whether a file of a folder is one of the archives that From reads.
func (s *search) isArchive(name string) bool {
	return slices.ContainsFunc(s.wanted, func(w *wish) bool { return w.Archive.Name == name }) ||
		strings.HasPrefix(name, "pipeline-") && (strings.HasSuffix(name, ".tar.xz") || strings.HasSuffix(name, ".zip"))
}

// file reads a library or an archive of that name.
func (s *search) file(file, name string, progress Progress) error {
	f, size, err := regularfile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewReader(&counted{ctx: s.ctx, from: f, total: size, progress: progress})
	if isZip(b) {
		return s.zip(f, size)
	}
	return s.content(name, size, b)
}

// done returns errAllFound once nothing is missing.
func (s *search) done() error {
	if slices.ContainsFunc(s.wanted, func(w *wish) bool { return len(w.stored) < len(w.Contents) }) {
		return nil
	}
	return errAllFound
}

// offer stores a file if it is one of the wanted.
func (s *search) offer(name string, size int64, content io.Reader) error {
	for _, w := range s.wanted {
		if f, ok := w.missing(func(f File) bool { return f.Bytes == size }); ok {
			return s.store(w, f, name, content)
		}
	}
	for _, w := range s.wanted {
		switch platform := w.platformOf(size); {
		case !w.resembles(name) || w.complete():
		case platform != "":
			s.platforms[w.Library.Name] = append(s.platforms[w.Library.Name], platform)
		default:
			s.unknown[w.Library.Name] = append(s.unknown[w.Library.Name],
				fmt.Sprintf("%s has %d bytes, that of %s has %d", filepath.Base(name), size, w.Release(),
					w.Contents[0].Bytes))
		}
	}
	return nil
}

// store writes a file of the right size under a temporary name if it has the right hash. One
// with another name and hash has that size by chance and is left out.
func (s *search) store(w *wish, f File, name string, content io.Reader) error {
	if err := prepare(w.Dir); err != nil {
		return err
	}
	temporary, err := atomicfile.Create(filepath.Join(w.Dir, f.Name))
	if err != nil {
		return download.Full(err, w.Dir, f.Bytes, freeSpace)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(temporary, sum), content)
	got := hex.EncodeToString(sum.Sum(nil))
	if err == nil && got == f.SHA256 {
		w.stored[f.Name] = temporary
		return nil
	}
	temporary.Abort()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case err != nil:
		return download.Full(err, w.Dir, f.Bytes-n, freeSpace)
	case f.licence() || !w.resembles(name):
		return nil
	}
	w.damaged = fmt.Errorf("%s is damaged, or not that of %s: its SHA-256 is %s, not %s; nothing was installed from it",
		filepath.Base(name), w.Release(), got, f.SHA256)
	return nil
}

var errCut = errors.New("the archive ends too early: copy or download it again")

// prepare makes a folder, and removes what killed runs left in it.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	_, err := atomicfile.RemoveStale(dir)
	return err
}

const freeSpace = "free some or choose another cache folder with XDG_CACHE_HOME"

// nothing explains why nothing was found.
func (s *search) nothing() error {
	var archives, platforms, unknown []string
	for _, w := range s.wanted {
		if w.damaged != nil {
			return w.damaged
		}
		if name, ok := w.lacks(); ok {
			return fmt.Errorf("lacks %s, which %s needs: give the folder of both, or %s", name, w.Library.Name,
				w.Archive.Name)
		}
		archives = append(archives, w.Archive.Name)
		platforms = append(platforms, s.platforms[w.Library.Name]...)
		unknown = append(unknown, s.unknown[w.Library.Name]...)
	}
	switch {
	case len(platforms) > 0:
		slices.Sort(platforms)
		return fmt.Errorf("has the libraries of another platform (%s)", strings.Join(slices.Compact(platforms), ", "))
	case len(unknown) > 0:
		return fmt.Errorf("%s: damaged, or of another release", strings.Join(unknown, "; "))
	}
	return fmt.Errorf("%w: give %s, a release archive of pipeline, or a folder with them", ErrNone,
		strings.Join(slices.Compact(archives), ", "))
}

// counted reports what is read, and stops when the context ends.
type counted struct {
	ctx         context.Context
	from        io.Reader
	done, total int64
	progress    Progress
}

func (c *counted) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	c.done += int64(n)
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
	return n, err
}
