package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// ScanOptions narrows a Scan.
type ScanOptions struct {
	// Avoid lists folders below the root that are not entered, such as the
	// output folder of the run.
	Avoid []string
	// Filter selects files.
	Filter Filter
	// Symlinks is the policy for symbolic links; "" means FollowLinks.
	Symlinks Symlinks
	// ClassFrom names the classes; "" means ClassFromTop.
	ClassFrom ClassFrom
}

// Scan finds the images under root. The folders of an image name its class, by
// opts.ClassFrom.
//
// Symbolic links to files count as files. A linked folder is entered once,
// after all real folders; a loop is a Problem. Pipes, sockets and devices are
// never opened. Files are not opened at all, except those whose extension does not
// say what they are (64 bytes). Folders that systems and tools leave, such as recycle
// bins, are not entered, and results of label are no images.
//
// The order, and with it every result, is the same on every run. When nothing
// is found the error wraps ErrNoImages and the Listing still reports what was
// skipped. Memory is one Sample per file plus the names of one folder chain;
// Walk needs less.
func Scan(ctx context.Context, root string, opts ScanOptions) (Listing, error) {
	s, err := newScanner(ctx, root, opts)
	if err != nil {
		return Listing{}, err
	}
	var samples []Sample
	s.emit = func(sample Sample) {
		samples = append(samples, sample)
		s.folders.add(sample)
	}
	if err := s.run(); err != nil {
		return Listing{}, err
	}
	s.listing.Samples, s.listing.Merged = samples, s.folders.merged()
	s.listing.sort()
	return s.listing, s.empty(len(samples))
}

// empty returns the error of a scan that found no images.
func (s *scanner) empty(images int) error {
	if images > 0 {
		return nil
	}
	return fmt.Errorf("scan %s: %w there%s", s.listing.Root, ErrNoImages, s.listing.besides())
}

func rootError(root string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("scan %s: %w%s", root, ErrNoRoot, suggest.Hint(filepath.Base(root), foldersBeside(root)))
	}
	return fmt.Errorf("scan %s: %w", root, err)
}

// A folder is one still to be read. Its chain of parents distinguishes a loop
// from a folder that two links point to.
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

// archives are suffixes of files that hold a folder of images.
var archives = []string{".zip", ".tar", ".gz", ".tgz", ".xz", ".bz2", ".zst", ".7z", ".rar"}

type scanner struct {
	ctx     context.Context
	opts    ScanOptions
	listing Listing
	name    string // of the root
	emit    func(Sample)
	enters  func(fileID) error // of each folder; if it is set, nothing but folders is looked at
	top     folder
	avoided map[fileID]bool
	visited map[fileID]bool
	pending []folder           // linked folders, in the order found
	refused map[string]refusal // folders not entered
	folders classFolders
	photos  map[string]bool // first-level folders, and whether there is a photo
}

func newScanner(ctx context.Context, root string, opts ScanOptions) (*scanner, error) {
	if err := errors.Join(opts.Filter.Validate(), opts.Symlinks.Validate(), opts.ClassFrom.Validate()); err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, rootError(root, err)
	}
	switch {
	case info.IsDir():
	case slices.Contains(archives, strings.ToLower(filepath.Ext(root))):
		return nil, fmt.Errorf("scan %s: %w but an archive: unpack it and give the folder", root, ErrNotFolder)
	default:
		return nil, fmt.Errorf("scan %s: %w (to label single files, name them in a list)", root, ErrNotFolder)
	}
	s := &scanner{ctx: ctx, opts: opts, listing: newListing(root), name: folderName(root),
		top: folder{id: idOf(root, info)}}
	s.visited, s.refused, s.folders = map[fileID]bool{}, map[string]refusal{}, classFolders{}
	s.photos = map[string]bool{}
	return s, s.avoid(opts.Avoid)
}

func (s *scanner) avoid(folders []string) error {
	s.avoided = map[fileID]bool{}
	for _, dir := range folders {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("exclude %s: %w", dir, err)
		}
		s.avoided[idOf(dir, info)] = true
	}
	return nil
}

// A refusal is why a folder is not entered.
type refusal int

const (
	entered refusal = iota
	refusedAvoided
	refusedLoop
	refusedTwice
)

func (s *scanner) run() error {
	s.pending = []folder{s.top}
	for len(s.pending) > 0 {
		next := s.pending[0]
		s.pending = s.pending[1:]
		if err := s.enter(next); err != nil {
			return err
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(s.photos)) {
		if !s.photos[dir] && s.opts.Filter.Shard.N <= 1 { // a shard may have none
			s.listing.LeftOut.Empty.add(dir)
		}
	}
	return nil
}

// inFolder notes that there is a photo, or what may be one, in the first-level folder of
// a path.
func (s *scanner) inFolder(rel string) {
	if dir, _, inside := strings.Cut(rel, "/"); inside && s.photos != nil {
		s.photos[dir] = true
	}
}

// judge decides whether a folder is entered.
func (s *scanner) judge(f folder) refusal {
	switch {
	case f.parent != nil && s.avoided[f.id]:
		return refusedAvoided
	case f.parent != nil && f.parent.insideOf(f.id):
		return refusedLoop
	case s.visited[f.id]:
		return refusedTwice
	}
	return entered
}

func (s *scanner) refuse(f folder, why refusal) {
	switch why {
	case refusedAvoided: // a second run must count what the first did
	case refusedTwice:
		s.skip(f.rel, "linked twice")
	case refusedLoop:
		s.problem(f.rel, fmt.Errorf("%s: symbolic link loop: it leads back to a folder that contains it", f.rel))
	}
}

// skip and problem count entries of this shard only.
func (s *scanner) skip(rel, kind string) {
	if s.opts.Filter.Shard.holds(rel) {
		s.listing.Skipped[kind]++
	}
}

func (s *scanner) problem(rel string, err error) {
	s.inFolder(rel + "/")
	if s.opts.Filter.Shard.holds(rel) {
		s.listing.problem(rel, err)
	}
}

func (s *scanner) full(rel string) string {
	return filepath.Join(s.listing.Root, filepath.FromSlash(rel))
}

// enter reads one folder, once.
func (s *scanner) enter(f folder) error {
	if why := s.judge(f); why != entered {
		s.refused[f.rel] = why
		s.refuse(f, why)
		return nil
	}
	s.visited[f.id] = true
	if s.enters != nil {
		if err := s.enters(f.id); err != nil {
			return err
		}
	}
	if f.rel != "" && !strings.Contains(f.rel, "/") {
		if _, known := s.photos[f.rel]; !known {
			s.photos[f.rel] = false
		}
	}
	for _, e := range s.readFolder(f.rel) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		found := s.look(&f, e)
		var err error
		switch {
		case found.folder == nil && s.enters != nil:
		case found.folder == nil:
			s.report(found)
		case found.linked:
			s.pending = append(s.pending, *found.folder)
		default:
			err = s.enter(*found.folder)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) readFolder(rel string) []fs.DirEntry {
	entries, err := os.ReadDir(s.full(rel))
	if err != nil {
		s.problem(rel, fmt.Errorf("read folder %s: %w", cmp.Or(rel, "."), regularfile.Cause(err)))
	}
	return s.withoutResults(rel, entries)
}

// An entry of a folder is another folder, a file, or neither.
type entry struct {
	rel    string
	folder *folder
	linked bool
	file   bool
	skip   string // why it is skipped
	system bool   // a folder that a system or tool leaves
	err    error
}

// look classifies an entry of a folder.
func (s *scanner) look(parent *folder, e fs.DirEntry) entry {
	found := entry{rel: path.Join(parent.rel, e.Name()), linked: e.Type()&fs.ModeSymlink != 0}
	switch {
	case atomicfile.IsTemp(e.Name()): // of a killed or running process
	case hiddenName(e.Name()):
		found.skip, found.system = "hidden", e.IsDir()
	case e.IsDir() && systemFolder(e.Name()):
		found.skip, found.system = "system", true
	case found.linked && s.opts.Symlinks == SkipLinks:
		found.skip = "link"
	case found.linked:
		s.follow(parent, &found)
	case e.IsDir():
		info, err := os.Lstat(s.full(found.rel))
		if err != nil {
			found.err = fmt.Errorf("read folder %s: %w", found.rel, regularfile.Cause(err))
			break
		}
		s.inside(parent, &found, info)
	case e.Type().IsRegular():
		found.file = true
	default:
		found.skip = "special"
	}
	return found
}

// inside makes the entry a folder, unless a pattern excludes it.
func (s *scanner) inside(parent *folder, found *entry, info fs.FileInfo) {
	if matchesAny(s.opts.Filter.Exclude, found.rel) {
		found.skip = "filtered"
		return
	}
	found.folder = &folder{rel: found.rel, id: idOf(s.full(found.rel), info), parent: parent}
}

// report counts or yields an entry that is not a folder.
func (s *scanner) report(found entry) {
	switch {
	case found.err != nil:
		s.problem(found.rel, found.err)
	case found.skip != "":
		s.skip(found.rel, found.skip)
		if found.system && s.opts.Filter.Shard.holds(found.rel) {
			s.listing.LeftOut.System.add(found.rel)
		}
	case found.file && s.opts.Filter.Shard.holds(found.rel):
		s.file(found.rel)
	}
}

func (s *scanner) file(rel string) {
	kind := kindByName(path.Base(rel))
	if kind == "" || pictured(kind) {
		if !s.opts.Filter.wanted(rel) {
			s.inFolder(rel)
			s.skip(rel, "filtered")
			return
		}
	}
	if kind == "" {
		var err error
		if kind, err = s.contentOf(rel); err != nil {
			s.problem(rel, fmt.Errorf("look into %s: %w", rel, regularfile.Cause(err)))
			return
		}
	}
	if kind == kindRaw && !developed(s.full(rel)) {
		kind = kindImage
	}
	if kind != kindImage {
		if !isSidecar(rel) {
			s.skip(rel, kind)
			s.listing.LeftOut.file(rel, kind)
		}
		return
	}
	s.inFolder(rel)
	sample := Sample{Path: rel, Label: s.opts.ClassFrom.class(s.name, rel)}
	if s.opts.Filter.drops(sample) {
		s.skip(rel, "dropped")
		return
	}
	s.emit(sample)
}

// contentOf finds the kind of a file by its content. Without an extension it may be a photo
// whether or not it can be read; with an unknown one it is none until it shows that.
func (s *scanner) contentOf(rel string) (string, error) {
	kind, err := kindByContent(s.full(rel))
	if err != nil && path.Ext(rel) != "" {
		return "other", nil
	}
	return kind, err
}
