package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A viewer embeds augmented views of images that are known by their
// embeddings. The views are cached as embeddings are.
type viewer struct {
	*workbench
	root  string
	paths map[model.Hash]string // of the images, by the hash of their embedding
	count int
}

// views returns a viewer of the images in root; nil where none are asked for,
// or there are no images.
func (w *workbench) views(ctx context.Context, root string, x blas32.General, paths []string) func(blas32.General) ([]blas32.General, error) {
	count := w.config.Classifier.DKL.Views
	if !w.config.Classifier.DKL.Enabled || count == 0 || w.config.Features != "" {
		return nil
	}
	v := viewer{workbench: w, root: root, paths: make(map[model.Hash]string, len(paths)), count: count}
	for i, h := range model.HashRows(x) {
		v.paths[h] = paths[i]
	}
	return func(x blas32.General) ([]blas32.General, error) { return v.of(ctx, x) }
}

// of returns all views of the rows of x.
func (v viewer) of(ctx context.Context, x blas32.General) (views []blas32.General, err error) {
	samples := make([]dataset.Sample, x.Rows)
	for i, h := range model.HashRows(x) {
		path, ok := v.paths[h]
		if !ok {
			return nil, fmt.Errorf("example %d is not among the images", i)
		}
		samples[i].Path = path
	}
	e, err := v.newEye()
	if err != nil {
		return nil, err
	}
	defer e.closeInto(&err)
	for number := 1; number <= v.count; number++ {
		m, err := v.embedView(ctx, e, number, samples, x.Cols)
		if err != nil {
			return nil, fmt.Errorf("view %d: %w", number, err)
		}
		views = append(views, m)
	}
	return views, nil
}

// embedView embeds one view of every sample, with a cache of its own.
func (v viewer) embedView(ctx context.Context, e *eye, number int, samples []dataset.Sample, d int) (m blas32.General, err error) {
	pre, err := preprocess.New(e.spec, v.config.Preprocess.Limits())
	if err != nil {
		return m, err
	}
	view := pre.View(number)
	dir, err := v.cacheDir()
	if err != nil {
		return m, err
	}
	cache, err := embed.OpenCache(dir, embed.Namespace{Extractor: e.extractor.Fingerprint(), Preprocess: view.Fingerprint()}, v.log)
	if err != nil {
		return m, err
	}
	defer func() {
		if closing := cache.Close(); err == nil {
			err = closing
		}
	}()
	stream := &embed.Stream{
		Cache: cache, Preprocessor: view, Open: embed.Opened(e.extractor), Side: e.spec.Side(),
		Workers: v.config.Workers(), MaxBytes: v.config.Preprocess.MaxBytes,
	}
	m = dense.New32(len(samples), d)
	p := v.newProgress(len(samples))
	defer p.finish()
	row := 0
	counts, err := stream.Run(ctx, v.root, samples, func(item embed.Item) error {
		if item.Err != nil {
			return fmt.Errorf("%s: %w", item.Sample.Path, item.Err)
		}
		copy(dense.Row32(m, row), item.Vector)
		row++
		p.add()
		return nil
	})
	v.log.Info("embedded views", "view", number, "inferred", counts.Inferred, "cached", counts.Cached)
	return m, err
}
