package embedding

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A Preprocessor turns the bytes of an image file into network input. It is
// safe for concurrent use and retains neither slice.
type Preprocessor interface {
	// Tensors decodes the file once and calls use for each square that stands for the
	// picture, with a function that fills a slice of length 3·side·side (CHW). It may wait for
	// memory until ctx ends. An error of use ends it.
	Tensors(ctx context.Context, file []byte, use func(tensor func(dst []float32) error) error) error
	// Boxes decodes the file once and calls use for each box, in order, with a function
	// that writes its input. An error of use ends it.
	Boxes(ctx context.Context, file []byte, boxes []preprocess.Box,
		use func(i int, tensor func(dst []float32) error) error) error
}

// An Extractor turns network input into embeddings. It is safe for concurrent
// use.
type Extractor interface {
	// Extract computes rows 0…n-1 of dst (n×Dim, n ≤ Batch) from pixels
	// (n×3×side×side).
	Extract(dst blas32.General, pixels []float32) error
	// Dim returns the embedding dimension d.
	Dim() int
	// Side returns the input side in pixels, 0 if the model takes any.
	Side() int
	// Batch returns the largest number of images per call.
	Batch() int
}

// An Item is the result for one sample.
type Item struct {
	Sample dataset.Sample
	// Hash is the hash of the file's content, or of that and the box; zero if it could not
	// be read.
	Hash cache.Hash
	// Vector is the embedding (length d), owned by the receiver; nil if Err is
	// set.
	Vector []float32
	// Err is why this file has no embedding. It does not repeat the path.
	Err error
	// Remark says something about a photo that was read nevertheless; "" is nothing, or
	// that the embedding was cached.
	Remark preprocess.Remark
	// Cached reports that this item needed no inference.
	Cached bool
}

// A Stream computes embeddings of many files. Set the fields, then call Run;
// only one Run at a time.
type Stream struct {
	Preprocessor Preprocessor
	// Open returns the extractor. Each Run calls it at most once, at the first
	// cache miss, so that a fully cached run loads no model.
	Open func() (Extractor, error)
	// Side is the side of the Preprocessor's output in pixels.
	Side int
	// Cache may be nil: then everything is computed.
	Cache *cache.Cache
	// Workers is the number of goroutines, 0 for one per core.
	Workers int
	// Budget is shared with the Preprocessor and bounds the files in memory; nil
	// for no bound.
	Budget *preprocess.Budget
	// Window bounds the samples in progress or waiting for an earlier one, and
	// thus memory; 0 for a default.
	Window int

	growing *patient // nil takes every file as it is
}

// Counts summarises a Run.
type Counts struct {
	Total    int   // items emitted
	Cached   int   // of those, embeddings that needed no inference
	Inferred int   // of those, embeddings computed
	Failed   int   // of those, items with an error
	Read     int   // files opened and read
	Bytes    int64 // bytes read
}

// Opened returns an Open function for an extractor that is already open.
func Opened(e Extractor) func() (Extractor, error) {
	return func() (Extractor, error) { return e, nil }
}

func (s *Stream) validate() error {
	switch {
	case s.Preprocessor == nil || s.Open == nil:
		return fmt.Errorf("embed: Preprocessor and Open must be set")
	case s.Side <= 0:
		return fmt.Errorf("embed: Side is %d, need the input side in pixels", s.Side)
	case s.Workers < 0 || s.Window < 0:
		return fmt.Errorf("embed: Workers %d, Window %d: none may be negative", s.Workers, s.Window)
	}
	return nil
}

func (s *Stream) workers() int { return cmp.Or(s.Workers, runtime.GOMAXPROCS(0)) }

// windowPerWorker lets the other workers continue for a while when one photo
// takes a hundred times longer than the rest.
const windowPerWorker = 128

func (s *Stream) window() int { return cmp.Or(s.Window, windowPerWorker*s.workers()) }

// Run computes the embeddings of samples, whose paths are relative to root (or
// absolute), and calls emit with one Item each, in the order of samples, on the
// calling goroutine.
//
// A file that cannot be read or decoded is an Item with Err, and the run
// continues. An error from emit, Open or the extractor, or a full cache disk,
// ends it. When ctx is cancelled, Run returns ctx.Err() as soon as each worker
// has finished its current image or batch; what was computed is in the cache.
func (s *Stream) Run(ctx context.Context, root string, samples []dataset.Sample,
	emit func(Item) error) (Counts, error) {
	return s.runSeq(ctx, root, slices.Values(samples), emit)
}

// runSeq is Run for a sequence of samples: memory does not grow with their
// number, and an item is emitted without waiting for the next sample. The
// sequence is read on another goroutine; when it can block, it must end when
// ctx does, because runSeq waits for it.
func (s *Stream) runSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
	emit func(Item) error) (Counts, error) {
	if err := s.validate(); err != nil {
		return Counts{}, err
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return Counts{}, fmt.Errorf("embed %s: %w", root, err)
	}
	if err := ctx.Err(); err != nil {
		return Counts{}, err
	}
	r := newRun(ctx, s, root)
	defer r.fail(nil)
	err = r.process(samples, emit)
	flushed := s.Cache.Flush() // also what a run that failed has computed
	switch {
	case err == nil:
		err = flushed
	case err == context.Cause(ctx):
		err = ctx.Err()
	}
	return r.counts, err
}
