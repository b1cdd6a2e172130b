package preprocess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/disintegration/imaging"
)

// The JPEG quality of thumbnails, and of pictures that are to be learned from.
const thumbnailQuality, cropQuality = 82, 95

// Thumbnail returns a JPEG of the upright picture that fits side×side pixels (1
// to 4096); a smaller picture keeps its size. It is for display: the resize is
// imaging's, not the model's. Errors are as for Decode.
func Thumbnail(ctx context.Context, file []byte, b *Budget, side int) ([]byte, error) {
	return thumbnail(file, side, func(c consumer) error {
		c.size = side
		return decode(ctx, file, b, c)
	})
}

// Thumbnail is like the function Thumbnail, with the Preprocessor's Budget and
// its native decoder, if any.
func (p *Preprocessor) Thumbnail(ctx context.Context, file []byte, side int) ([]byte, error) {
	return thumbnail(file, side, func(c consumer) error { return p.decode(ctx, file, side, c) })
}

// BoxThumbnail is like Thumbnail for the square around a box, cut as Boxes cuts it from the
// picture at full resolution.
func (p *Preprocessor) BoxThumbnail(ctx context.Context, file []byte, b Box, side int) ([]byte, error) {
	return p.cut(ctx, file, b, side, thumbnailQuality)
}

// Crop returns a JPEG of the square around a box, at full resolution but at most 4096 pixels
// wide: a picture of which a backbone sees what Boxes shows it of the box.
func (p *Preprocessor) Crop(ctx context.Context, file []byte, b Box) ([]byte, error) {
	return p.cut(ctx, file, b, maxSide, cropQuality)
}

// cut is BoxThumbnail with a quality.
func (p *Preprocessor) cut(ctx context.Context, file []byte, b Box, side, quality int) (out []byte, err error) {
	if err := errors.Join(checkThumbnail(side), b.check()); err != nil {
		return nil, err
	}
	var failed error
	c := p.upright(file, func(w, h int) int64 {
		_, _, cut := b.square(w, h)
		return thumbnailBytes(cut, cut, side)
	}, func(r raster, n plan, _ int, _ *resampler) {
		x, y, cut := b.square(r.size())
		if failed = p.budget.checkArea(n.format, cut, cut); failed != nil {
			return
		}
		square := &canvas{width: cut, height: cut, x: -x, y: -y, background: p.spec.meanColour(), frame: r}
		out, failed = encodeThumbnail(upright(average(square, boxSide(cut, cut, side)), 1), side, quality)
	})
	c.side = 0 // stored thumbnails are of the whole picture
	return out, cmp.Or(p.decode(ctx, file, fullSize, c), failed)
}

func checkThumbnail(side int) error {
	if side < 1 || side > maxSide {
		return fmt.Errorf("preprocess: thumbnail side is %d: allowed is 1 to %d", side, maxSide)
	}
	return nil
}

// thumbnailBytes bounds what making a thumbnail of a picture of w×h allocates.
func thumbnailBytes(w, h, side int) int64 {
	by := boxSide(w, h, side)
	const copies = 3 + 3 + 4 + 8 + 4 // box, upright, NRGBA, imaging, JPEG
	return copies*pixels(w/by+1, h/by+1) + 32*int64(w)
}

// thumbnail averages large pictures to at least twice the thumbnail's size while
// their rows are read, so that the rest takes little memory.
func thumbnail(file []byte, side int, decode func(consumer) error) (out []byte, err error) {
	if err := checkThumbnail(side); err != nil {
		return nil, err
	}
	var failed error
	err = decode(consumer{
		bytes: func(p plan) int64 {
			w, h := p.size()
			return thumbnailBytes(w, h, side)
		},
		use: func(r raster, f format) {
			w, h := r.size()
			out, failed = encodeThumbnail(upright(average(r, boxSide(w, h, side)), orientation(file, f)), side,
				thumbnailQuality)
		},
	})
	return out, cmp.Or(err, failed)
}

func encodeThumbnail(m *Image, side, quality int) ([]byte, error) {
	var b bytes.Buffer
	small := imaging.Fit(m.nrgba(), side, side, imaging.Linear)
	if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("preprocess: encode thumbnail: %w", err)
	}
	return b.Bytes(), nil
}

// boxSide returns the side of the squares to average.
func boxSide(w, h, side int) int { return max(1, max(w, h)/(2*side)) }

// average returns the averages of squares of by×by pixels; those at the right
// and bottom edges may be smaller.
func average(r raster, by int) raster {
	if by == 1 {
		return r
	}
	w, h := r.size()
	out := &Image{Width: (w + by - 1) / by, Height: (h + by - 1) / by}
	out.Pix = make([]byte, 3*out.Width*out.Height)
	row, sums := make([]byte, 3*w), make([]int, 3*out.Width)
	for y := range h {
		r.row(row, y, 0, w)
		for x := range out.Width {
			box, sum := row[3*x*by:min(3*(x+1)*by, 3*w)], sums[3*x:3*x+3]
			for ; len(box) >= 3; box = box[3:] {
				sum[0] += int(box[0])
				sum[1] += int(box[1])
				sum[2] += int(box[2])
			}
		}
		if (y+1)%by != 0 && y+1 < h {
			continue
		}
		dst := out.Pix[3*out.Width*(y/by):]
		for i := range sums {
			n := min(by, w-i/3*by) * (y%by + 1)
			dst[i] = byte((sums[i] + n/2) / n)
		}
		clear(sums)
	}
	return out
}

// nrgba copies the picture into the standard library's type. Nothing else is
// ever passed to imaging: that library starts goroutines, in which a crafted
// palette would cause a panic that cannot be recovered (CVE-2023-36308).
func (m *Image) nrgba() *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, m.Width, m.Height))
	for i, j := 0, 0; i+3 <= len(m.Pix) && j+4 <= len(out.Pix); i, j = i+3, j+4 {
		out.Pix[j], out.Pix[j+1], out.Pix[j+2], out.Pix[j+3] = m.Pix[i], m.Pix[i+1], m.Pix[i+2], 255
	}
	return out
}
