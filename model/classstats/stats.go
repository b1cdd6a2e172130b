// Package classstats holds statistics of labelled embeddings per class.
// Machines that each see part of the images collect and save them; they are
// merged exactly and learned by model.TrainStats and model.LearnStats.
// docs/formats-model.md describes the file.
package classstats

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// pendingValues bounds the embeddings that wait to be added, 16 MiB.
const pendingValues = 4 << 20

// Stats is a set of samples with the moments of its classes. Memory: the
// moments, 32 bytes per sample, and at most 16 MiB of embeddings waiting to be
// added.
type Stats struct {
	// Unit means that embeddings are scaled to length 1, and then rounded to
	// float32, before they are added.
	Unit bool
	// Provenance records how the embeddings were computed.
	Provenance  embedding.Provenance
	ToolVersion string

	dim     int
	classes map[string]*counted
	pending map[string][]float32
	waiting int // values in pending
}

// counted is one class. While its moments are thin, content[i] belongs to row i
// of stats.
type counted struct {
	stats   *moments.Moments
	content []Hash
	known   map[Hash]bool // content, including pending samples
}

// New returns empty statistics for embeddings of d values.
func New(d int, unit bool) *Stats {
	return &Stats{Unit: unit, dim: d, classes: map[string]*counted{}, pending: map[string][]float32{}}
}

// Source returns the Provenance, with the dimension set.
func (s *Stats) Source() embedding.Provenance {
	p := s.Provenance
	p.Dim = s.dim
	return p
}

// Classes returns the class names, sorted.
func (s *Stats) Classes() []string { return slices.Sorted(maps.Keys(s.classes)) }

// SampleCount returns the number of (content hash, class) pairs counted.
func (s *Stats) SampleCount() int {
	n := 0
	for _, c := range s.classes {
		n += len(c.content)
	}
	return n
}

// Has reports whether a sample is counted.
func (s *Stats) Has(id SampleID) bool {
	c, ok := s.classes[id.Class]
	return ok && c.known[id.Content]
}

// Add counts one embedding (d) and reports true, unless its content is counted
// in this class already. Cost: O(d) while a class has up to d samples, O(d²)
// beyond, in batches on all cores.
func (s *Stats) Add(id SampleID, embedding []float32) (bool, error) {
	if id.Class == "" || !utf8.ValidString(id.Class) {
		return false, fmt.Errorf("collect statistics: the class %q is empty or not UTF-8", id.Class)
	}
	if err := classifier.CheckRows(oneRow(embedding), s.dim); err != nil {
		return false, fmt.Errorf("collect statistics: %w", err)
	}
	if s.Has(id) {
		return false, nil
	}
	c := s.class(id.Class)
	c.known[id.Content] = true
	c.content = append(c.content, id.Content)
	s.pending[id.Class] = append(s.pending[id.Class], embedding...)
	if s.waiting += s.dim; s.waiting < pendingValues {
		return true, nil
	}
	return true, s.settle()
}

func oneRow(v []float32) blas32.General {
	return blas32.General{Rows: 1, Cols: len(v), Stride: max(1, len(v)), Data: v}
}

func (s *Stats) class(name string) *counted {
	c, ok := s.classes[name]
	if !ok {
		c = &counted{stats: moments.New(s.dim), known: map[Hash]bool{}}
		s.classes[name] = c
	}
	return c
}

// settle adds the pending embeddings, classes in parallel.
func (s *Stats) settle() error {
	names := slices.Sorted(maps.Keys(s.pending))
	err := dense.ParallelErr(len(names), func(i int) error {
		x := blas32.General{Rows: len(s.pending[names[i]]) / s.dim, Cols: s.dim, Stride: s.dim,
			Data: s.pending[names[i]]}
		if s.Unit {
			x = classifier.UnitRows(x, dense.Range(0, x.Rows))
		}
		if err := s.classes[names[i]].stats.Add(x); err != nil {
			return fmt.Errorf("collect statistics: class %q: %w", names[i], err)
		}
		return nil
	})
	clear(s.pending)
	s.waiting = 0
	return err
}

// A Class holds the samples of one class and their moments.
type Class struct {
	Name    string
	Moments *moments.Moments
	Content []Hash
}

// Except returns the classes, sorted by name, without the known samples, and
// omits classes that become empty. The error wraps ErrCountedTwice if a class
// has some known samples and is too large for them to be removed.
func (s *Stats) Except(known func(SampleID) bool) ([]Class, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	var rest []Class
	for _, name := range s.Classes() {
		c := s.classes[name]
		gone := map[Hash]bool{}
		for _, h := range c.content {
			if known(SampleID{h, name}) {
				gone[h] = true
			}
		}
		switch {
		case len(gone) == len(c.content):
			continue
		case len(gone) > 0 && !c.stats.Thin():
			return nil, phrase.New(
				"class %q: %w, %d of %d, and the statistics no longer have the examples of so large a class: "+
					"collect them again with {except} and the statistics that the model has learned",
				name, ErrCountedTwice, len(gone), len(c.content))
		case len(gone) > 0:
			var err error
			if c, err = c.without(gone); err != nil {
				return nil, fmt.Errorf("class %q: %w", name, err)
			}
		}
		rest = append(rest, Class{name, c.stats, c.content})
	}
	return rest, nil
}
