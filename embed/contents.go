package embed

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-90d10d51/pipeline/embed/cache"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// EmbedContents embeds images that are in memory, such as those of requests, and
// returns an Item without a Sample for each. It is safe for concurrent use, also
// beside a pass over files. What it computes is not stored; what is stored is found.
func (e *Embedder) EmbedContents(ctx context.Context, files [][]byte) ([]Item, error) {
	items := make([]Item, len(files))
	size := 3 * e.spec.Side() * e.spec.Side()
	for first := 0; first < len(files); first += e.extractor.Batch() {
		part := files[first:min(first+e.extractor.Batch(), len(files))]
		pixels := make([]float32, len(part)*size)
		todo := e.decode(ctx, pixels, items[first:first+len(part)], part)
		x := dense.New32(len(todo), e.Dim())
		if len(todo) == 0 {
			continue
		}
		var oneBad *extractor.NonFiniteError // which rows are is seen below
		if err := e.extractor.Extract(x, pixels[:len(todo)*size]); err != nil && !errors.As(err, &oneBad) {
			return nil, err
		}
		for k, i := range todo {
			if row := dense.Row32(x, k); dense.Finite32(row) {
				items[first+i].Vector = row
			} else {
				items[first+i].Err = errNotFinite
			}
		}
	}
	return items, ctx.Err()
}

// decode fills pixels with those of the files whose embeddings are not stored, and
// returns which these are.
func (e *Embedder) decode(ctx context.Context, pixels []float32, items []Item, files [][]byte) (todo []int) {
	for i, file := range files {
		items[i].Hash = cache.HashOf(file)
		if v, ok := e.cache.Get(items[i].Hash); ok {
			items[i].Vector, items[i].Cached = v, true
		} else {
			todo = append(todo, i)
		}
	}
	size := 3 * e.spec.Side() * e.spec.Side()
	var group sync.WaitGroup
	for k, i := range todo {
		group.Go(func() { items[i].Err = e.pre.Tensor(ctx, pixels[k*size:(k+1)*size], files[i]) })
	}
	group.Wait()
	var good []int
	for k, i := range todo {
		if items[i].Err == nil {
			copy(pixels[len(good)*size:(len(good)+1)*size], pixels[k*size:(k+1)*size])
			good = append(good, i)
		}
	}
	return good
}
