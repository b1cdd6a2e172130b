package dataset

import (
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Walk finds the same images as Scan but does not store them. It makes two
// passes: the first counts and decides which linked folders are entered; the
// second, in Source.Samples, yields the images in order. What has become
// unreadable by the second pass is a Problem. When the first pass finds nothing
// the error wraps ErrNoImages and the Source still reports what was skipped.
// Memory is the names of one folder chain and of the classes, and a few words per
// folder.
func Walk(ctx context.Context, root string, opts ScanOptions) (*Source, error) {
	s, err := newScanner(ctx, root, opts)
	if err != nil {
		return nil, err
	}
	n := 0
	s.emit = func(sample Sample) {
		n++
		s.folders.add(sample)
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	s.listing.sort()
	s.listing.Merged = s.folders.merged()
	return &Source{root: root, n: n, found: s.listing, pass: s.inOrder}, s.empty(n)
}

// inOrder is the second pass. It does not enter folders that the first refused.
func (s *scanner) inOrder(ctx context.Context, out *Listing, yield func(Sample) bool) error {
	w := walker{scanner: &scanner{ctx: ctx, opts: s.opts, listing: newListing(s.listing.Root), name: s.name,
		refused: s.refused}}
	w.emit = func(sample Sample) {
		if !w.stopped {
			w.stopped = !yield(sample)
		}
	}
	err := w.avoid(s.opts.Avoid) // the run may have created its output folder since
	if err == nil {
		err = w.walk(s.top)
	}
	*out = w.listing
	return err
}

type walker struct {
	*scanner
	stopped bool
}

// walk visits a folder so that paths come out sorted: folders sort as if their
// names ended in a slash, so folder "a" comes between files "a-b" and "a0".
func (w *walker) walk(f folder) error {
	for _, found := range w.sorted(&f) {
		if err := w.ctx.Err(); err != nil || w.stopped {
			return err
		}
		if found.folder == nil {
			w.report(found)
			continue
		}
		if why := w.judgeAgain(*found.folder); why != entered {
			w.refuse(*found.folder, why)
			continue
		}
		if err := w.walk(*found.folder); err != nil {
			return err
		}
	}
	return nil
}

// judgeAgain repeats the decision of the first pass, and also finds loops that
// were created since.
func (w *walker) judgeAgain(f folder) refusal {
	if why := w.judge(f); why != entered { // visited is empty here
		return why
	}
	return w.refused[f.rel]
}

func (w *walker) sorted(f *folder) []entry {
	entries := w.readFolder(f.rel)
	found := make([]entry, 0, len(entries))
	for len(entries) > 0 {
		found = append(found, w.look(f, entries[0]))
		entries[0] = fs.DirEntry(nil) // free them: both lists would need twice the memory
		entries = entries[1:]
	}
	slices.SortFunc(found, func(a, b entry) int { return strings.Compare(a.key(), b.key()) })
	return found
}

func (e entry) key() string {
	if e.folder != nil {
		return e.rel + "/"
	}
	return e.rel
}
