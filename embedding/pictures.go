package embedding

import (
	"context"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// Thumbnail returns a JPEG of an image file, scaled to fit side×side pixels, and the hash
// of the file's content, which may have been replaced since it was embedded.
func (e *Embedder) Thumbnail(ctx context.Context, file string, side int) (jpeg []byte, of cache.Hash, err error) {
	err = e.budget.ReadFile(ctx, file, func(content []byte) (err error) {
		of = cache.HashOf(content)
		jpeg, err = e.pre.Thumbnail(ctx, content, side)
		return err
	})
	return jpeg, of, err
}

// BoxThumbnail is like Thumbnail for a box in an image file: it shows the square that the
// backbone sees, and the hash is that of the box (ContentHash).
func (e *Embedder) BoxThumbnail(ctx context.Context, file string, b *dataset.Box, side int) (jpeg []byte,
	of cache.Hash, err error) {
	err = e.budget.ReadFile(ctx, file, func(content []byte) (err error) {
		of = ContentHash(cache.HashOf(content), b)
		jpeg, err = e.pre.BoxThumbnail(ctx, content, rectangle(b), side)
		return err
	})
	return jpeg, of, err
}

// Crop returns a JPEG of the square that the backbone sees of a box in an image file, at full
// resolution (preprocess.Preprocessor.Crop).
func (e *Embedder) Crop(ctx context.Context, file string, b *dataset.Box) (jpeg []byte, err error) {
	err = e.budget.ReadFile(ctx, file, func(content []byte) (err error) {
		jpeg, err = e.pre.Crop(ctx, content, rectangle(b))
		return err
	})
	return jpeg, err
}

func rectangle(b *dataset.Box) preprocess.Box { return preprocess.Box{X: b.X, Y: b.Y, W: b.W, H: b.H} }

// Size returns the width and the height of the upright picture in an image file, in pixels.
// It decodes nothing, and reads the beginning of a JPEG file, or a whole one.
func (e *Embedder) Size(ctx context.Context, file string) (width, height int, err error) {
	const beginning = 64 << 10
	if head, err := regularfile.ReadHead(file, beginning); err != nil {
		return 0, 0, err
	} else if width, height, ok := preprocess.HeadSize(head, e.budget); ok {
		return width, height, nil
	}
	err = e.budget.ReadFile(ctx, file, func(content []byte) (err error) {
		width, height, err = preprocess.Size(content, e.budget)
		return err
	})
	return width, height, err
}
