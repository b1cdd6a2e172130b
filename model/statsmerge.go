package model

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrCountedTwice says that statistics share samples and cannot count them once.
var ErrCountedTwice = errors.New("the same images are counted in both")

// Merge takes in what o has counted, which stays as it is but for what waits to
// be added, and returns how many samples both had counted. Those count once:
// they are taken out of the one of both that still has its examples, which is
// so while a class has up to d of them. Where neither has, the error wraps
// ErrCountedTwice. It wraps embed.ErrOtherBackbone or embed.ErrOtherPreprocessing when the
// embeddings do not belong together. On error nothing is merged.
//
// Merging is exact: in any order and grouping, also that of a tree, the result
// is the same up to rounding, 1e-12 of the squared length of the data. Cost:
// O(d²) a class, which 10 000 examples do not make more than one.
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
			return 0, fmt.Errorf("merge statistics: class %q: %w, %d of them, and neither side keeps examples of so large a class: collect one of the two again with --except and the other", name, ErrCountedTwice, both)
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

// shared counts the contents that both have.
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

// merge takes in o but for what both have, one of which has its examples.
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

// without returns a class in the thin form without some contents.
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

// compatible says whether the embeddings may be mixed.
func (s *Stats) compatible(o *Stats) error {
	if err := s.source().Compatible(o.source(), "in the other"); err != nil {
		return err
	}
	if s.Unit != o.Unit {
		return fmt.Errorf("one is of embeddings scaled to length 1, the other of embeddings as they are: collect both with --raw, or both without")
	}
	return nil
}

// ordered returns a class with its contents sorted, and with them the rows of the
// thin form, so that a file does not show in which order images came.
func (c *counted) ordered() (*counted, error) {
	rows := make([]int, len(c.content))
	for i := range rows {
		rows[i] = i
	}
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
