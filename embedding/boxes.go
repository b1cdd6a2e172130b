package embedding

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// boxMark begins what the content of a box is hashed from. Change it whenever the pixels
// of a box do.
const boxMark = "box 1\n"

// ContentHash returns the hash of what a sample shows: that of its file, or of the file and
// the box in it, so that every box is content of its own to caches, models and decisions.
func ContentHash(file cache.Hash, b *dataset.Box) cache.Hash {
	if b == nil {
		return file
	}
	text := append([]byte(boxMark), file[:]...)
	for _, share := range [4]float64{b.X, b.Y, b.W, b.H} {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(share))
	}
	return sha256.Sum256(text)
}

// boxes adds boxes of the image in w.file, which is decoded once, to the batch. judge is that of resolve.
func (w *worker) boxes(todo []claimed, judge func(error) error) error {
	parts := make([]preprocess.Box, len(todo))
	for i, c := range todo {
		parts[i] = rectangle(c.samples[c.at].Box)
	}
	var remark preprocess.Remark
	ctx := preprocess.WithRemarks(w.ctx, func(r preprocess.Remark) { remark = r })
	added := 0
	var ended error // the run, and not only this image
	err := w.Preprocessor.Boxes(ctx, w.file, parts, func(i int, tensor func([]float32) error) error {
		if ended = w.ctx.Err(); ended != nil {
			return ended
		}
		if judge != nil && added == 0 && remark == preprocess.RemarkEnd {
			if err := judge(nil); err != nil {
				return err
			}
		}
		c := todo[i]
		c.remark = remark
		added++
		err := w.row(&c, tensor)
		ended = w.add(c, err)
		return ended
	})
	if ended != nil || err == nil {
		return ended
	}
	if judge != nil && added == 0 && remark != preprocess.RemarkEnd {
		err = judge(err)
	}
	if err == errAgain {
		return err
	}
	for _, c := range todo[added:] {
		w.land(c.place, Item{Hash: c.hash, Err: err})
	}
	return nil
}
