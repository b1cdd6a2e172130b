package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A collection is embeddings in memory, with what is known of each.
type collection struct {
	model.Batch
	problems []dataset.Problem
	skipped  map[string]int
	counts   embedding.Counts
	// meta is that of a feature folder, nil for images and foreign folders.
	meta *dataset.Meta
}

// listing finds the images that the settings name. A folder in which nothing
// can be read is a result, with its problems; one without any image is not.
func (w *workbench) listing(ctx context.Context) (images dataset.Listing, err error) {
	switch c := w.config; {
	case c.List != "":
		images, err = dataset.ReadList(c.List, c.Images)
	case c.Images != "":
		images, err = w.scan(ctx)
	default:
		return images, usagef("say with --images which folder to read")
	}
	if errors.Is(err, dataset.ErrNoImages) && len(images.Problems) > 0 {
		err = nil
	}
	return images, err
}

// scan passes by what the run itself writes. That is not counted as skipped:
// the first run would not count it and the second would.
func (w *workbench) scan(ctx context.Context) (dataset.Listing, error) {
	var own []string
	if w.config.Out != "" {
		own = append(own, w.config.Out)
	}
	if cache, err := w.cacheDir(); err == nil {
		own = append(own, cache)
	}
	images, err := dataset.Scan(ctx, w.config.Images, dataset.ScanOptions{Exclude: own})
	delete(images.Skipped, "excluded")
	return images, err
}

// embed collects the embeddings of a listing; images that fail are problems.
func (w *workbench) embed(ctx context.Context, e *eye, images dataset.Listing) (collection, error) {
	d := e.extractor.Dim()
	c := collection{problems: images.Problems, skipped: images.Skipped}
	c.X = blas32.General{Cols: d, Stride: d}
	counts, err := w.stream(ctx, e, images, func(item embedding.Item) error {
		if item.Err != nil {
			c.problems = append(c.problems, dataset.Problem{Path: item.Sample.Path, Err: item.Err})
			return nil
		}
		c.add(item.Sample, model.Hash(item.Hash), item.Vector)
		return nil
	})
	c.counts = counts
	return c, err
}

func (c *collection) add(s dataset.Sample, content model.Hash, row []float32) {
	c.X.Rows++
	c.X.Data = append(c.X.Data, row...)
	c.Labels = append(c.Labels, dataset.EscapePath(s.Label))
	c.Paths = append(c.Paths, s.Path)
	c.Content = append(c.Content, content)
}

// stream runs the eye over a listing, with progress.
func (w *workbench) stream(ctx context.Context, e *eye, images dataset.Listing, emit func(embedding.Item) error) (embedding.Counts, error) {
	p := w.newProgress(len(images.Samples))
	defer p.finish()
	return e.stream.Run(ctx, images.Root, images.Samples, func(item embedding.Item) error {
		p.add()
		return emit(item)
	})
}

// features reads a feature folder as a collection.
func (w *workbench) features() (collection, error) {
	f, err := dataset.ReadFeatures(w.config.Features)
	if err != nil {
		return collection{}, err
	}
	c := collection{meta: f.Meta}
	c.X = f.X
	c.Content = model.HashRows(f.X)
	for _, s := range f.Samples {
		c.Labels = append(c.Labels, dataset.EscapePath(s.Label))
		c.Paths = append(c.Paths, s.Path)
	}
	return c, nil
}

// input returns the embeddings that --images, --list or --features name. The
// eye is asked for only when there are images to look at.
func (w *workbench) input(ctx context.Context, open func() (*eye, error)) (c collection, err error) {
	if w.config.Features != "" {
		if w.config.Images != "" || w.config.List != "" {
			return c, usagef("--features and --images are two different inputs: give one")
		}
		return w.features()
	}
	images, err := w.listing(ctx)
	if err != nil {
		return c, err
	}
	e, err := open()
	if err != nil {
		return c, err
	}
	defer e.closeInto(&err)
	return w.embed(ctx, e, images)
}

// labelled drops the rows without a label and says how many there were.
func (w *workbench) labelled(c collection) (collection, error) {
	keep := collection{problems: c.problems, skipped: c.skipped, counts: c.counts, meta: c.meta}
	keep.X = blas32.General{Cols: c.X.Cols, Stride: c.X.Cols}
	for i, label := range c.Labels {
		if label == "" {
			continue
		}
		keep.X.Rows++
		keep.X.Data = append(keep.X.Data, c.X.Data[i*c.X.Stride:i*c.X.Stride+c.X.Cols]...)
		keep.Labels = append(keep.Labels, label)
		keep.Paths = append(keep.Paths, c.Paths[i])
		keep.Content = append(keep.Content, c.Content[i])
	}
	if dropped := len(c.Labels) - len(keep.Labels); dropped > 0 {
		w.log.Warn("images without a class are left out; put them into a folder named after their class", "images", dropped)
	}
	if len(keep.Labels) == 0 {
		return keep, fmt.Errorf("no labelled images: put each class into a folder of its own, DIR/<class>/<image>")
	}
	return keep, nil
}

// watched is the eye as label.Job wants it: with progress.
type watched struct {
	*workbench
	eye *eye
}

// Run implements label.Embedder.
func (v watched) Run(ctx context.Context, root string, samples []dataset.Sample, emit func(embedding.Item) error) (embedding.Counts, error) {
	return v.stream(ctx, v.eye, dataset.Listing{Root: root, Samples: samples}, emit)
}

// source says where a feature folder's embeddings come from, as far as its
// meta.json tells; images have been checked when their backbone was opened.
func (c collection) source() model.Source {
	s := model.Source{Dim: c.X.Cols}
	if c.meta != nil {
		s.BackboneSHA256 = c.meta.Backbone.SHA256
		s.PreprocessFingerprint = c.meta.PreprocessFingerprint
	}
	return s
}

// whole refuses a collection of which some inputs failed, for commands that do
// all or nothing.
func (c collection) whole(name string) error {
	if len(c.problems) == 0 {
		return nil
	}
	p := c.problems[0]
	return fmt.Errorf("%s: %d images could not be read, nothing was changed; the first is %s: %w", name, len(c.problems), p.Path, p.Err)
}

// problemsOf writes the inputs that failed to a file and says so; a file from
// an earlier run in which nothing fails any more is removed.
func (w *workbench) problemsOf(c collection, file string) error {
	if len(c.problems) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := label.WriteProblems(file, c.problems); err != nil {
		return err
	}
	return partial(len(c.problems), file)
}
