// Package prior makes, writes and reads the prior of a backbone: the spread within
// classes of labelled images, for models of other classes that have too few images
// to tell their own. docs/formats-model.md describes the file.
package prior

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model/classstats"
)

// ErrLearned means that a prior was made from images that a model is to learn.
var ErrLearned = errors.New("the prior must come from other images")

// A Description says what a prior was made from.
type Description struct {
	Dim int `json:"dim"`
	// Sets is the number of data sets, Classes that of their classes with two or
	// more images, and Degrees Σ(n−1) over these.
	Sets    int `json:"sets"`
	Classes int `json:"classes"`
	Degrees int `json:"degrees"`
	// Images is the number of different images.
	Images int `json:"images,omitempty"`
	// Epsilon is the ε for models with one image of each class, 0 if ChooseEpsilon
	// had too few classes to choose it, or was not called.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Provenance records how the embeddings were computed.
	Provenance  embedding.Provenance `json:"provenance"`
	ToolVersion string               `json:"tool_version"`
}

// A Prior is the covariance within classes of some labelled images, and the
// record of which they were.
type Prior struct {
	Description

	within  []float32 // P (d×d)
	content []classstats.Hash
	// halves are those of the classes of all sets, as far as Add has seen them.
	halves [2]half
}

// Add pools a data set with those before; its classes are its own, whatever their
// names. The error wraps embedding.ErrOtherBackbone or embedding.ErrOtherPreprocessing if
// it does not match them. Classes of one image tell nothing, but count among what the
// prior has seen. Of examples, which may be nil, the prior takes what statistics do not
// have. O(nd²).
func (p *Prior) Add(ctx context.Context, backend linalg.Backend, s *classstats.Stats, examples *Examples) error {
	if !s.Unit {
		return errors.New("a prior needs embeddings scaled to length 1")
	}
	from := s.Source()
	if p.Sets > 0 {
		if err := p.Accepts(from); err != nil {
			return err
		}
	}
	classes, err := s.Except(func(classstats.SampleID) bool { return false })
	if err != nil {
		return err
	}
	var known []classstats.Class
	var content []classstats.Hash
	for _, c := range classes {
		content = append(content, c.Content...)
		if c.Moments.N() > 1 {
			known = append(known, c)
		}
	}
	if len(known) == 0 {
		return errors.New("no class has two images, so that nothing is known about the spread within classes")
	}
	for i, part := range halved(known) {
		if err := p.addHalf(ctx, backend, &p.halves[i], part, examples); err != nil {
			return err
		}
	}
	content = slices.Compact(sorted(content))
	p.Images += len(content) - p.Count(content, nil)
	p.know(content)
	if examples != nil {
		p.know(examples.rows)
	}
	p.Dim, p.Sets, p.Classes = from.Dim, p.Sets+1, p.Classes+len(known)
	p.Provenance = p.Provenance.Adopt(from)
	p.Provenance.Dim = from.Dim
	b := &p.Provenance.Backbone
	if b.Path = ""; b.Name != "" { // priors are handed on: a folder says who made them
		b.Name = filepath.Base(b.Name)
	}
	return nil
}

// addHalf pools a half of the classes of a data set with P, and with what the same half
// of earlier sets gave.
func (p *Prior) addHalf(ctx context.Context, backend linalg.Backend, h *half, classes []classstats.Class,
	examples *Examples) error {
	if len(classes) == 0 {
		return nil
	}
	names, stats := make([]string, len(classes)), make([]*moments.Moments, len(classes))
	for i, c := range classes {
		names[i], stats[i] = c.Name, c.Moments
	}
	session, err := moments.SessionOf(names, stats, 0)
	if err != nil {
		return err
	}
	basis, err := gauss.Fit(ctx, backend, session, session.Totals())
	if err != nil {
		return err
	}
	p.within = pooled(p.within, p.Degrees, basis)
	h.within = pooled(h.within, h.degrees, basis)
	p.Degrees, h.degrees = p.Degrees+basis.Degrees(), h.degrees+basis.Degrees()
	if pairs := examples.of(names); pairs.first.Rows > 1 {
		h.sets = append(h.sets, pairs)
	}
	return nil
}

// pooled averages a covariance within classes, of so many degrees of freedom, with S of
// more classes.
func pooled(within []float32, degrees int, b *gauss.Basis) []float32 {
	sum := blas64.General{Rows: b.Dim(), Cols: b.Dim(), Stride: b.Dim(), Data: make([]float64, b.Dim()*b.Dim())}
	dense.Widen(sum.Data[:len(within)], within)
	all := float64(degrees + b.Degrees())
	blas64.Scal(float64(degrees)/all, dense.Vector(sum.Data))
	blas64.Axpy(float64(b.Degrees())/all, dense.Vector(b.Within().Data), dense.Vector(sum.Data))
	return dense.Narrowed(sum.Data)
}

// Head returns the prior as a head uses it.
func (p *Prior) Head() *gauss.Prior {
	return &gauss.Prior{Within: wide(p.within, p.Dim), Epsilon: p.Epsilon}
}

func wide(within []float32, d int) blas64.General {
	out := dense.New(d, d)
	dense.Widen(out.Data, within)
	return out
}

// know adds hashes by which images of the prior are recognised: those of their
// embeddings (embedding.HashRow) where Add had those of photos.
func (p *Prior) know(hashes []classstats.Hash) {
	p.content = slices.Compact(sorted(append(p.content, hashes...)))
}

// Samples returns the number of different images that the prior has seen.
func (p *Prior) Samples() int { return cmp.Or(p.Images, len(p.content)) }

// Accepts returns nil if the prior may be used for embeddings of that provenance,
// or the error of embedding.Provenance.Compatible.
func (p *Prior) Accepts(from embedding.Provenance) error {
	own := p.Provenance
	own.Dim = p.Dim
	return from.Compatible(own, "in the prior")
}

// Count returns how many images the prior has seen: image i has the content hash
// content[i] and, if there are any, the embedding with the hash rows[i].
func (p *Prior) Count(content, rows []classstats.Hash) (n int) {
	for i, h := range content {
		if p.knows(h) || i < len(rows) && p.knows(rows[i]) {
			n++
		}
	}
	return n
}

func (p *Prior) knows(h classstats.Hash) bool {
	_, ok := slices.BinarySearchFunc(p.content, h, compare)
	return ok
}

// CheckLearned returns an error, which wraps ErrLearned, if the prior has seen some
// of the images that a model is to learn, given as in Count: they would count twice,
// and could not be forgotten.
func (p *Prior) CheckLearned(content, rows []classstats.Hash) error {
	if n := p.Count(content, rows); n > 0 {
		return phrase.New("%w: it was made from %d of these %d images too. Make one without them (pipeline prior), or "+
			"train without {prior}", ErrLearned, n, len(content))
	}
	return nil
}

func compare(a, b classstats.Hash) int { return bytes.Compare(a[:], b[:]) }

func sorted(content []classstats.Hash) []classstats.Hash {
	slices.SortFunc(content, compare)
	return content
}
