package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// A collection is embeddings in memory, with what is known of each.
type collection struct {
	model.Batch
	problems []dataset.Problem
	skipped  map[string]int
	counts   embed.Counts
	// meta is that of a feature folder, nil for images and foreign folders.
	meta *dataset.Meta
}

// listing finds the images that the settings name. A folder in which nothing
// can be read is a result, with its problems; one without any image is not.
func (w *workbench) listing(ctx context.Context) (images dataset.Listing, err error) {
	switch c := w.config; {
	case c.List != "":
		images, err = w.readList()
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

// own is what the run itself writes, which a scan passes by.
func (w *workbench) own() []string {
	var own []string
	for _, dir := range []string{w.config.Out, w.output} {
		if dir != "" {
			own = append(own, dir)
		}
	}
	if cache, err := w.cacheDir(); err == nil {
		own = append(own, cache)
	}
	return own
}

func (w *workbench) scanOptions() (dataset.ScanOptions, error) {
	filter, err := w.config.Scan.Filter()
	return dataset.ScanOptions{Avoid: w.own(), Filter: filter, Symlinks: dataset.Symlinks(w.config.Scan.Symlinks)}, err
}

func (w *workbench) scan(ctx context.Context) (dataset.Listing, error) {
	opts, err := w.scanOptions()
	if err != nil {
		return dataset.Listing{}, err
	}
	return dataset.Scan(ctx, w.config.Images, opts)
}

func (w *workbench) readList() (dataset.Listing, error) {
	images, err := dataset.ReadList(w.config.List, w.config.Images)
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return images, err
	}
	filter, filterErr := w.config.Scan.Filter()
	return images, errors.Join(err, filterErr, images.Keep(filter))
}

// shardOut moves the output of a shard into its own sub-folder, so that all
// shards can be started with one command line.
func (w *workbench) shardOut() error {
	shard, err := dataset.ParseShard(w.config.Scan.Shard)
	if err != nil || shard.N == 0 {
		return err
	}
	if err := os.MkdirAll(w.config.Out, 0o755); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	w.output, w.config.Out = w.config.Out, filepath.Join(w.config.Out, shard.Name())
	return nil
}

// source is listing for jobs of any size: a folder is walked, not listed.
func (w *workbench) source(ctx context.Context) (*dataset.Source, error) {
	if w.config.List != "" || w.config.Images == "" {
		images, err := w.listing(ctx)
		return images.Source(), err
	}
	opts, err := w.scanOptions()
	if err != nil {
		return nil, err
	}
	images, err := dataset.Walk(ctx, w.config.Images, opts)
	if errors.Is(err, dataset.ErrNoImages) {
		found, _ := images.Outcome()
		if len(found.Problems) > 0 || opts.Filter.Shard.N > 1 {
			err = nil // a shard may be empty
		}
	}
	return images, err
}

// embed collects the embeddings of a listing; images that fail are problems.
func (w *workbench) embed(ctx context.Context, e *eye, images dataset.Listing) (collection, error) {
	d := e.extractor.Dim()
	c := collection{problems: images.Problems, skipped: images.Skipped}
	c.X = blas32.General{Cols: d, Stride: d}
	counts, err := w.stream(ctx, e, images, func(item embed.Item) error {
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
func (w *workbench) stream(ctx context.Context, e *eye, images dataset.Listing, emit func(embed.Item) error) (embed.Counts, error) {
	return watched{w, e, len(images.Samples)}.RunSeq(ctx, images.Root, slices.Values(images.Samples), emit)
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
	eye   *eye
	total int
}

// RunSeq implements label.Embedder.
func (v watched) RunSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample], emit func(embed.Item) error) (embed.Counts, error) {
	p := v.newProgress(v.total)
	defer p.finish()
	return v.eye.stream.RunSeq(ctx, root, samples, func(item embed.Item) error {
		p.add()
		return emit(item)
	})
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
