package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
)

// own is what the run itself writes, which a scan passes by.
func (w *app) own() []string {
	var own []string
	for _, dir := range []string{w.config.Out, w.output} {
		if dir != "" {
			own = append(own, dir)
		}
	}
	if cache, err := w.options().CacheDir(); err == nil {
		own = append(own, cache)
	}
	return own
}

func (w *app) scanOptions() (dataset.ScanOptions, error) {
	filter, err := w.config.Scan.Filter()
	return dataset.ScanOptions{Avoid: w.own(), Filter: filter, Symlinks: dataset.Symlinks(w.config.Scan.Symlinks)}, err
}

func (w *app) scan(ctx context.Context) (dataset.Listing, error) {
	opts, err := w.scanOptions()
	if err != nil {
		return dataset.Listing{}, err
	}
	return dataset.Scan(ctx, w.config.Images, opts)
}

func (w *app) readList() (*dataset.Source, error) {
	images, err := dataset.ReadList(w.config.List, w.config.Images)
	if err != nil && !errors.Is(err, dataset.ErrNoImages) {
		return nil, err
	}
	filter, filterErr := w.config.Scan.Filter()
	err = errors.Join(err, filterErr, images.Keep(filter))
	if errors.Is(err, dataset.ErrNoImages) && len(images.Problems) > 0 {
		err = nil
	}
	return images.Source(), err
}

// shardOut moves the output of a shard into its own sub-folder, so that all
// shards can be started with one command line.
func (w *app) shardOut() error {
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

// source finds the images that the settings name; a folder of any size is
// walked, not listed. One in which nothing can be read is a result, with its
// problems; one without any image is not.
func (w *app) source(ctx context.Context) (*dataset.Source, error) {
	switch {
	case w.config.List != "":
		return w.readList()
	case w.config.Images == "":
		return nil, usagef("say with --images which folder to read")
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

// An input is embeddings to read, and to close. Those of images have an
// Embedder and the folder that paths are relative to.
type input struct {
	embed.Rows
	io.Closer
	embedder *embed.Embedder
	root     string
}

// images opens the images that --images or --list name; with a model, for its
// backbone.
func (w *app) images(ctx context.Context, m *model.Model) (input, error) {
	images, err := w.source(ctx)
	if err != nil {
		return input{}, err
	}
	var e *embed.Embedder
	if m == nil {
		e, err = embed.Open(w.options())
	} else {
		e, err = embed.OpenFor(m.Provenance, w.options())
	}
	if err != nil {
		return input{}, err
	}
	return input{e.Embed(images), e, e, images.Root()}, nil
}

// input opens the embeddings that --images, --list or --features name; with a
// model, they must belong to it.
func (w *app) input(ctx context.Context, m *model.Model) (input, error) {
	if w.config.Features == "" {
		return w.images(ctx, m)
	}
	if w.config.Images != "" || w.config.List != "" {
		return input{}, usagef("--features and --images are two different inputs: give one")
	}
	r, err := featdir.Open(w.config.Features)
	if err == nil && m != nil {
		if err = m.Accepts(r.Provenance()); err != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return input{Rows: r, Closer: r}, err
}

// labelled reads the rows of an input that have a class.
func (w *app) labelled(ctx context.Context, m *model.Model) (e embed.Embeddings, err error) {
	in, err := w.input(ctx, m)
	if err != nil {
		return e, err
	}
	defer closeInto(in, &err)
	rows := &embed.Labelled{Rows: in}
	e, err = embed.Collect(ctx, rows)
	w.warnUnlabelled(rows.Dropped)
	return e, err
}

func (w *app) warnUnlabelled(images int) {
	if images > 0 {
		w.log.Warn("images without a class are left out; put them into a folder named after their class", "images", images)
	}
}

// views embeds augmented views of images; nil where none are asked for, or
// there are no images.
func (w *app) views(ctx context.Context, root string, e embed.Embeddings) func(blas32.General) ([]blas32.General, error) {
	count := w.config.Classifier.DKL.Views
	if !w.config.Classifier.DKL.Enabled || count == 0 || w.config.Features != "" {
		return nil
	}
	return e.Views(ctx, w.options(), root, count)
}

// whole refuses inputs of which some failed, for commands that do all or
// nothing.
func whole(name string, problems []dataset.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	return fmt.Errorf("%s: %d images could not be read, nothing was changed; the first is %s: %w", name, len(problems), p.Path, p.Err)
}

// writeProblems writes the inputs that failed to a file and says so; a file from
// an earlier run in which nothing fails any more is removed.
func writeProblems(problems []dataset.Problem, file string) error {
	if len(problems) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := label.WriteProblems(file, problems); err != nil {
		return err
	}
	return partial(len(problems), file)
}
