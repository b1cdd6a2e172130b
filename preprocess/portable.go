package preprocess

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"

	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// A codec is a decoder of Go's.
type codec struct {
	header func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// planPortable plans a file for Go's packages, as they are: JPEG without libjpeg's upsampling, nothing of files that
// are cut, no AVIF.
func planPortable(f format, file []byte, b *Budget) (p plan, err error) {
	c, ok := map[format]codec{formatJPEG: {jpeg.DecodeConfig, jpeg.Decode}, formatPNG: {png.DecodeConfig, png.Decode},
		formatTIFF: {tiff.DecodeConfig, tiff.Decode},
		formatWebP: {webp.DecodeConfig, webp.Decode}}[f]
	if !ok {
		return p, fmt.Errorf("read image: %w: this is %s, which libvips decodes: %s", ErrFormat, f,
			imagelib.Vips().Remedy())
	}
	m, err := c.header(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(f, m.Width, m.Height); err != nil {
		return p, err
	}
	read := func(ctx context.Context) io.Reader { return interruptible(ctx, bytes.NewReader(file)) }
	n := portableBytes(f, file, m)
	switch f {
	case formatJPEG:
		h, err := readJPEGHeader(file)
		if err != nil {
			return p, err
		}
		if _, err := checkScans(file, h.firstScan); err != nil {
			return p, err
		}
		n = h.goBytes()
	case formatTIFF:
		t := readTIFF(file)
		blocks, err := t.check(file, b)
		if err != nil {
			return p, err
		}
		n += blocks.garbage(t) + 8*pixels(m.Width, m.Height)
		read = func(ctx context.Context) io.Reader { return collectingReader(ctx, file, blocks) }
	}
	return plan{width: m.Width, height: m.Height, bytes: n, open: func(ctx context.Context) (raster, error) {
		decoded, err := c.decode(read(ctx))
		if err != nil {
			return nil, err
		}
		r := newRaster(decoded)
		if at := decoded.Bounds(); at != image.Rect(0, 0, m.Width, m.Height) {
			r = &canvas{width: m.Width, height: m.Height, x: at.Min.X, y: at.Min.Y, background: [3]byte{255, 255, 255},
				frame: r}
		}
		return r, nil
	}}, nil
}

// goBytes is what image/jpeg allocates: the channels in whole blocks, a progressive file's
// coefficients (int32), and for four channels image.CMYK and its parts.
func (h *jpegHeader) goBytes() int64 {
	perSample := int64(1)
	if h.progressive {
		perSample += 4
	}
	n := perSample*blockSamples*h.blocks() + 32*int64(h.width)
	if len(h.components) == 4 || h.isRGB() {
		n += 8 * pixels(h.width, h.height)
	}
	return n
}

// portableBytes estimates what Go's decoders allocate, without the blocks of TIFF.
func portableBytes(f format, file []byte, c image.Config) int64 {
	perPixel := int64(4)
	if _, paletted := c.ColorModel.(color.Palette); paletted {
		perPixel = 1
	} else {
		switch c.ColorModel {
		case color.GrayModel:
			perPixel = 1
		case color.Gray16Model:
			perPixel = 2
		case color.RGBA64Model, color.NRGBA64Model:
			perPixel = 8
		}
	}
	area := pixels(c.Width, c.Height)
	switch {
	case f == formatWebP && c.ColorModel == color.YCbCrModel:
		return 8*int64(len(file)) + 2*pixels(c.Width+15, c.Height+15) + area + 64*int64(c.Width)
	case f == formatWebP:
		const groups, perGroup, perEmptyGroup, perByte = 2600, 80_000, 14_000, 8 * 2 * 20 // of Huffman trees
		tiles := pixels((c.Width+3)/4, (c.Height+3)/4)
		g := min(tiles, groups, int64(len(file))/2+1)
		return 8*area + 20*tiles + 8*int64(len(file)) + min(g*perGroup, g*perEmptyGroup+perByte*int64(len(file)))
	case f == formatPNG && isInterlaced(file):
		perPixel *= 2
	}
	return perPixel*area + 2*perPixel*int64(c.Width)
}

// garbage is what x/image/tiff leaves: a buffer for each block, that has grown by doubling, and
// a decompressor.
func (b blocks) garbage(t tiffTags) int64 {
	each := pixels(b.width, b.height)
	return 4*min(8*each, b.bytes(t)+each) + min(collectBytes, pixels(b.across, b.down)*decompressorBytes)
}

// collectBytes is how much garbage builds up while a TIFF is decoded: each
// strip has its own reader and sometimes its own buffer.
const collectBytes = 16 << 20

// decompressorBytes is more than a reader of any compression takes.
const decompressorBytes = 64 << 10

// A collecting reader collects the garbage of its reader, and fails when the
// context has ended or more than a quota is read.
type collecting struct {
	io.ReaderAt
	ctx     context.Context
	quota   *quota.Quota
	each    int // what a read leaves, at most
	garbage int
}

func collectingReader(ctx context.Context, file []byte, b blocks) io.Reader {
	return &collecting{ReaderAt: bytes.NewReader(file), ctx: ctx, quota: readQuota(file),
		each: decompressorBytes + 2*8*b.width*b.height}
}

// Read is not used; x/image/tiff reads from an io.ReaderAt.
func (r *collecting) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ReadAt counts the read bytes and what reading a block leaves.
func (r *collecting) ReadAt(b []byte, off int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if err := r.quota.Take(int64(len(b))); err != nil {
		return 0, err
	}
	if r.garbage += len(b) + r.each; r.garbage > collectBytes {
		r.garbage = 0
		runtime.GC()
	}
	return r.ReaderAt.ReadAt(b, off)
}
