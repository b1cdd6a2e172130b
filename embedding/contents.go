package embedding

import (
	"context"
	"slices"
	"sync"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// EmbedContents embeds images that are in memory, such as those of requests, and
// returns an Item without a Sample for each. It is safe for concurrent use, also
// beside a pass over files. What it computes is not stored; what is stored is found.
func (e *Embedder) EmbedContents(ctx context.Context, files [][]byte) ([]Item, error) {
	items := make([]Item, len(files))
	for first := 0; first < len(files); first += e.extractor.Batch() {
		last := min(first+e.extractor.Batch(), len(files))
		if err := e.embedPart(ctx, items[first:last], files[first:last]); err != nil {
			return nil, err
		}
	}
	return items, ctx.Err()
}

// embedPart decodes files at the same time and computes them together.
func (e *Embedder) embedPart(ctx context.Context, items []Item, files [][]byte) error {
	pixels, rows := make([][]float32, len(files)), make([]int, len(files))
	var group sync.WaitGroup
	for i, file := range files {
		items[i].Hash = cache.HashOf(file)
		if items[i].Vector, items[i].Cached = e.cache.Get(items[i].Hash); !items[i].Cached {
			group.Go(func() { pixels[i], rows[i], items[i].Err = tensors(ctx, e.pre, file) })
		}
	}
	group.Wait()
	all := 0
	for i := range items {
		if items[i].Err != nil {
			pixels[i], rows[i] = nil, 0
		}
		all += rows[i]
	}
	if all == 0 {
		return nil
	}
	x := dense.New32(all, e.Dim())
	if err := extract(e.extractor, x, slices.Concat(pixels...)); err != nil {
		return err
	}
	row := 0
	for i, n := range rows {
		if n == 0 {
			continue
		}
		if v := meanRow(x, row, n); dense.Finite32(v) {
			items[i].Vector = v
		} else {
			items[i].Err = errNotFinite
		}
		row += n
	}
	return nil
}

// tensors returns those of the squares that stand for a picture, one after the other.
func tensors(ctx context.Context, pre *preprocess.Preprocessor, file []byte) (pixels []float32, rows int, err error) {
	side := pre.Spec().Side()
	err = pre.Tensors(ctx, file, func(tensor func([]float32) error) error {
		rows++
		pixels = append(pixels, make([]float32, 3*side*side)...)
		return tensor(pixels[len(pixels)-3*side*side:])
	})
	return pixels, rows, err
}
