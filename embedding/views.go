package embedding

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Views returns a function that embeds count augmented views of some rows of e,
// which are images below root, looked up by their embeddings. The backbone is
// open only while it runs, and views are cached like embeddings.
func (e Embeddings) Views(ctx context.Context, o Options, root string,
	count int) func(x blas32.General) ([]blas32.General, error) {
	samples := make(map[[sha256.Size]byte]dataset.Sample, len(e.Samples))
	for i, h := range HashRows(e.X) {
		samples[h] = dataset.Sample{Path: e.Samples[i].Path, Box: e.Samples[i].Box}
	}
	return func(x blas32.General) (views []blas32.General, err error) {
		images := dataset.Listing{Root: root}
		for i, h := range HashRows(x) {
			s, ok := samples[h]
			if !ok {
				return nil, fmt.Errorf("example %d is not among the images", i)
			}
			images.Samples = append(images.Samples, s)
		}
		embedder, err := OpenFor(e.Provenance, o)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, embedder.Close()) }()
		for number := 1; number <= count; number++ {
			v, err := embedder.view(ctx, images, number)
			if err != nil {
				return nil, fmt.Errorf("view %d: %w", number, err)
			}
			views = append(views, v)
		}
		return views, nil
	}
}

// view embeds one view of every image, with a separate cache.
func (e *Embedder) view(ctx context.Context, images dataset.Listing, number int) (m blas32.General, err error) {
	view := e.pre.View(number)
	memory, err := e.openCache(view.Fingerprint())
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	step, finish := e.progress(len(images.Samples))
	defer finish()
	m = dense.New32(len(images.Samples), e.Dim())
	row := 0
	counts, err := e.newStream(view, memory).Run(ctx, images.Root, images.Samples, func(item Item) error {
		if item.Err != nil {
			return fmt.Errorf("%s: %w", item.Sample.Path, item.Err)
		}
		copy(dense.Row32(m, row), item.Vector)
		row++
		step()
		return nil
	})
	e.options.Log.Info("embedded views", "view", number, "inferred", counts.Inferred, "cached", counts.Cached)
	return m, err
}
