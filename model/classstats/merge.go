package classstats

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// ErrCountedTwice means that statistics share samples that cannot be counted
// once.
var ErrCountedTwice = errors.New("the same images are counted in both")

// Merge adds the samples of o, and returns how many samples both have. Those
// count once: Merge removes them from a side that still has the examples of the
// class, which it does for classes of up to d samples. If neither side does,
// the error wraps ErrCountedTwice. It wraps embedding.ErrOtherBackbone or
// embedding.ErrOtherPreprocessing if the embeddings are incompatible. On error
// nothing is merged.
//
// Merging is exact: in any order and grouping, including a tree, the result is
// the same up to rounding, 1e-12 of the squared length of the data. Cost: O(d²)
// per class, whatever the number of examples.
func (s *Stats) Merge(o *Stats) (shared int, err error) {
	if err := s.compatible(o); err != nil {
		return 0, fmt.Errorf("merge statistics: %w", err)
	}
	if err := errors.Join(s.settle(), o.settle()); err != nil {
		return 0, err
	}
	names := o.Classes()
	for _, name := range names {
		both := s.classes[name].shared(o.classes[name])
		if both > 0 && !s.classes[name].stats.Thin() && !o.classes[name].stats.Thin() {
			return 0, phrase.New("merge statistics: class %q: %w, %d of them, and neither side has the examples of "+
				"so large a class: collect one of the two again with {except} and the other",
				name, ErrCountedTwice, both)
		}
		shared += both
	}
	for _, name := range names {
		if err := s.class(name).merge(o.classes[name]); err != nil {
			return 0, fmt.Errorf("merge statistics: class %q: %w", name, err)
		}
	}
	s.Provenance = s.Provenance.Adopt(o.Provenance)
	return shared, nil
}

// shared returns the number of contents in both.
func (c *counted) shared(o *counted) int {
	if c == nil {
		return 0
	}
	n := 0
	for _, h := range o.content {
		if c.known[h] {
			n++
		}
	}
	return n
}

// merge adds o, skipping samples counted in both; one of the two is thin.
func (c *counted) merge(o *counted) error {
	if c.shared(o) > 0 {
		var err error
		if o.stats.Thin() {
			o, err = o.without(c.known)
		} else {
			var rest *counted
			if rest, err = c.without(o.known); err == nil {
				c.stats, c.content = rest.stats, rest.content
			}
		}
		if err != nil {
			return err
		}
	}
	if err := c.stats.Merge(o.stats); err != nil {
		return err
	}
	c.content = append(c.content, o.content...)
	for _, h := range o.content {
		c.known[h] = true
	}
	return nil
}

// without returns a thin class without the given contents.
func (c *counted) without(gone map[Hash]bool) (*counted, error) {
	rest := &counted{known: map[Hash]bool{}}
	var rows []int
	for i, h := range c.content {
		if !gone[h] {
			rows, rest.content = append(rows, i), append(rest.content, h)
		}
	}
	var err error
	rest.stats, err = c.stats.Select(rows)
	return rest, err
}

// compatible returns an error if the embeddings are known not to be compatible.
func (s *Stats) compatible(o *Stats) error {
	if err := s.Source().Compatible(o.Source(), "in the other"); err != nil {
		return err
	}
	if s.Unit != o.Unit {
		return phrase.New("one has embeddings scaled to length 1, the other unscaled embeddings: collect both with " +
			"{raw}, or both without")
	}
	return nil
}

// ordered returns a class with its contents, and the rows of the thin form,
// sorted, so that a file does not depend on the order of the images.
func (c *counted) ordered() (*counted, error) {
	rows := dense.Range(0, len(c.content))
	slices.SortFunc(rows, func(i, j int) int { return bytes.Compare(c.content[i][:], c.content[j][:]) })
	out := &counted{stats: c.stats, known: maps.Clone(c.known)}
	for _, i := range rows {
		out.content = append(out.content, c.content[i])
	}
	if !c.stats.Thin() {
		return out, nil
	}
	var err error
	out.stats, err = c.stats.Select(rows)
	return out, err
}
