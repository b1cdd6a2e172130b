// Package prior makes, writes and reads the prior of a backbone: the spread within
// classes of labelled images, for models of other classes that have too few images
// to tell their own. docs/formats.md describes the file.
package prior

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier/gauss"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/linalg"
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
	// Provenance records how the embeddings were computed.
	Provenance  embed.Provenance `json:"provenance"`
	ToolVersion string           `json:"tool_version"`
}

// A Prior is the covariance within classes of some labelled images, and the
// record of which they were.
type Prior struct {
	Description

	within  []float32 // P (d×d)
	content []classstats.Hash
}

// Add pools a data set with those before; its classes are its own, whatever their
// names. The error wraps embed.ErrOtherBackbone or embed.ErrOtherPreprocessing if
// it does not match them. Classes of one image tell nothing, but count among what the
// prior has seen. O(nd²).
func (p *Prior) Add(ctx context.Context, backend linalg.Backend, s *classstats.Stats) error {
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
	var names []string
	var stats []*moments.Moments
	var content []classstats.Hash
	for _, c := range classes {
		content = append(content, c.Content...)
		if c.Moments.N() > 1 {
			names, stats = append(names, c.Name), append(stats, c.Moments)
		}
	}
	if len(names) == 0 {
		return errors.New("no class has two images, so that nothing is known about the spread within classes")
	}
	session, err := moments.SessionOf(names, stats, from.Dim)
	if err != nil {
		return err
	}
	basis, err := gauss.Fit(ctx, backend, session, session.Totals())
	if err != nil {
		return err
	}
	p.pool(basis)
	content = slices.Compact(sorted(content))
	p.Images += len(content) - p.Count(content, nil)
	p.Know(content)
	p.Dim, p.Sets, p.Classes = from.Dim, p.Sets+1, p.Classes+len(names)
	p.Provenance = p.Provenance.Adopt(from)
	p.Provenance.Dim = from.Dim
	return nil
}

// pool averages P with S of a data set, weighted by degrees of freedom.
func (p *Prior) pool(b *gauss.Basis) {
	sum := blas64.General{Rows: b.Dim(), Cols: b.Dim(), Stride: b.Dim(), Data: make([]float64, b.Dim()*b.Dim())}
	dense.Widen(sum.Data[:len(p.within)], p.within)
	degrees := float64(p.Degrees + b.Degrees())
	blas64.Scal(float64(p.Degrees)/degrees, dense.Vector(sum.Data))
	blas64.Axpy(float64(b.Degrees())/degrees, dense.Vector(b.Within().Data), dense.Vector(sum.Data))
	p.within, p.Degrees = dense.Narrowed(sum.Data), p.Degrees+b.Degrees()
}

// Head returns the prior as a head uses it.
func (p *Prior) Head() *gauss.Prior {
	within := dense.New(p.Dim, p.Dim)
	dense.Widen(within.Data, p.within)
	return &gauss.Prior{Within: within}
}

// Know adds hashes by which images of the prior are recognised: those of their
// embeddings (embed.HashRow) where Add had those of photos.
func (p *Prior) Know(hashes []classstats.Hash) {
	p.content = slices.Compact(sorted(append(p.content, hashes...)))
}

// Samples returns the number of different images that the prior has seen.
func (p *Prior) Samples() int { return cmp.Or(p.Images, len(p.content)) }

// Accepts returns nil if the prior may be used for embeddings of that provenance,
// or the error of embed.Provenance.Compatible.
func (p *Prior) Accepts(from embed.Provenance) error {
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
		return fmt.Errorf("%w: it was made from %d of these %d images too. Make one without them (pipeline prior), or train without --prior", ErrLearned, n, len(content))
	}
	return nil
}

func compare(a, b classstats.Hash) int { return bytes.Compare(a[:], b[:]) }

func sorted(content []classstats.Hash) []classstats.Hash {
	slices.SortFunc(content, compare)
	return content
}
