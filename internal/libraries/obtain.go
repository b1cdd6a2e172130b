package libraries

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
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

	"github.com/ulikunitz/xz"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A Target is a library to obtain, and where its file belongs.
type Target struct {
	Library
	File
	Dir string
}

// Path returns the path of the file.
func (t Target) Path() string { return filepath.Join(t.Dir, t.File.Name) }

// Present reports whether the pinned file is there.
func (t Target) Present() bool {
	f, size, err := regularfile.Open(t.Path())
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && size == t.Bytes && hex.EncodeToString(sum.Sum(nil)) == t.SHA256
}

// Progress is called with the bytes read so far; total is 0 while it is unknown.
type Progress func(done, total int64)

// From obtains the wanted libraries from an http or https address of an archive, or from
// an archive (tar, compressed by gzip or xz), a folder that contains archives or libraries, or
// a library file. It returns those that it stored. It is no error if some are not there, but one if none is,
// if a file that should be one of them is not the pinned one, or if one is there for another platform only.
func From(ctx context.Context, source string, wanted []Target, progress Progress) ([]Target, error) {
	s := &search{ctx: ctx, source: source, wanted: slices.Clone(wanted), platforms: map[string][]string{},
		unknown: map[string][]string{}}
	err := s.read(progress)
	switch {
	case errors.Is(err, errAllFound):
		err = nil
	case err == nil && (len(s.found) == 0 || s.resembling()):
		err = s.nothing()
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", withoutPassword(source), err)
	}
	return s.found, err
}

// ErrNone reports a source that has nothing of what is wanted, nor anything like it.
var ErrNone = errors.New("has none of the libraries")

// errAllFound ends a search early.
var errAllFound = errors.New("all libraries found")

// A search looks for the wanted libraries among files, which it recognises by their
// size, and then by their hash.
type search struct {
	ctx           context.Context
	source        string
	wanted, found []Target
	// platforms and unknown are what it found of other platforms and releases, by the
	// name of the library.
	platforms, unknown map[string][]string
}

// resembling reports whether anything like what is still missing was there.
func (s *search) resembling() bool {
	return slices.ContainsFunc(s.wanted,
		func(t Target) bool { return len(s.platforms[t.Library.Name])+len(s.unknown[t.Library.Name]) > 0 })
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
	return s.file(s.source, progress)
}

// folder reads the libraries below a folder, and the archives directly in it.
func (s *search) folder() error {
	return filepath.WalkDir(s.source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if cmp.Or(s.ctx.Err(), s.done()) != nil {
			return cmp.Or(s.ctx.Err(), s.done())
		}
		info, err := os.Stat(file) // also of what a link leads to
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if filepath.Dir(file) == filepath.Clean(s.source) && s.isArchive(entry.Name()) {
			return s.file(file, nil)
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
	return slices.ContainsFunc(s.wanted, func(t Target) bool { return t.Archive() == name }) ||
		// gzip: up to 0.1
		strings.HasPrefix(name, "pipeline-") &&
			(strings.HasSuffix(name, ".tar.xz") || strings.HasSuffix(name, ".tar.gz"))
}

// file reads a library or an archive.
func (s *search) file(name string, progress Progress) error {
	f, size, err := regularfile.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.content(name, size, &counted{ctx: s.ctx, from: f, total: size, progress: progress})
}

// content reads a library or an archive from a stream. The size is -1 if it is unknown.
func (s *search) content(name string, size int64, r io.Reader) error {
	b := bufio.NewReader(r)
	unpacked, err := decompress(b)
	switch {
	case err != nil:
		return fmt.Errorf("not a complete archive: %w", err)
	case unpacked == nil:
		return cmp.Or(s.offer(name, size, b), s.done())
	}
	for archive := tar.NewReader(unpacked); ; {
		entry, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the archive ends too early: copy or download it again")
		case err != nil:
			return fmt.Errorf("the archive cannot be read: %w", err)
		case entry.Typeflag != tar.TypeReg:
			continue
		}
		if err := cmp.Or(s.offer(entry.Name, entry.Size, archive), s.done()); err != nil {
			return err
		}
	}
}

// decompress returns the content of a file of gzip or xz, or nil for any other.
func decompress(b *bufio.Reader) (io.Reader, error) {
	magic, _ := b.Peek(6)
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return gzip.NewReader(b)
	case bytes.Equal(magic, []byte("\xfd7zXZ\x00")):
		return xz.NewReader(b)
	}
	return nil, nil
}

// done returns errAllFound once nothing is missing.
func (s *search) done() error {
	if len(s.wanted) == 0 {
		return errAllFound
	}
	return nil
}

// offer stores a file if it is one of the wanted.
func (s *search) offer(name string, size int64, content io.Reader) error {
	for i, t := range s.wanted {
		if size == t.Bytes {
			stored, err := store(t, name, content)
			if err != nil || !stored {
				return err
			}
			s.found = append(s.found, t)
			s.wanted = slices.Delete(s.wanted, i, i+1)
			return nil
		}
	}
	for _, t := range s.wanted {
		switch platform := t.platformOf(size); {
		case !t.resembles(name):
		case platform != "":
			s.platforms[t.Library.Name] = append(s.platforms[t.Library.Name], platform)
		default:
			s.unknown[t.Library.Name] = append(s.unknown[t.Library.Name],
				fmt.Sprintf("%s has %d bytes, that of %s has %d", filepath.Base(name), size, t.Release(), t.Bytes))
		}
	}
	return nil
}

// store writes a file of the right size under its name if it has the right hash. One
// with another name and hash has that size by chance and is left out.
func store(t Target, name string, content io.Reader) (stored bool, err error) {
	if err := prepare(t.Dir); err != nil {
		return false, err
	}
	f, err := atomicfile.Create(t.Path())
	if err != nil {
		return false, download.Full(err, t.Dir, t.Bytes, freeSpace)
	}
	defer f.Abort()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), content)
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return false, errors.New("the archive ends too early: copy or download it again")
	case err != nil:
		return false, download.Full(err, t.Dir, t.Bytes-n, freeSpace)
	case got != t.SHA256 && !t.resembles(name):
		return false, nil
	case got != t.SHA256:
		return false, fmt.Errorf("%s is damaged, or not that of %s: its SHA-256 is %s, not %s; nothing was "+
			"installed from it", filepath.Base(name), t.Release(), got, t.SHA256)
	}
	return true, download.Full(f.Commit(), t.Dir, t.Bytes, freeSpace)
}

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
	for _, t := range s.wanted {
		archives = append(archives, t.Archive())
		platforms = append(platforms, s.platforms[t.Library.Name]...)
		unknown = append(unknown, s.unknown[t.Library.Name]...)
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
