package preprocess

import (
	"bytes"
	"context"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
)

// A plan is how a file is to be decoded, and what that takes.
type plan struct {
	format        format
	width, height int // as in the header
	by            int // decoded at 1/by of its size; 0 means 1
	// bytes is at least what open and the raster allocate, garbage included.
	bytes int64
	// less returns how many of these bytes a closer look at the data saves, which
	// takes time; nil means none.
	less func() int64
	// profile is the ICC profile, nil if the metadata has it.
	profile []byte
	// open stops soon after the context ends.
	open func(ctx context.Context) (raster, error)
}

// fixedBytes covers what decoders allocate for any file: windows, tables,
// readers, rows of usual length.
const fixedBytes = 256 << 10

// planFile reads a file's header. If side is not 0, a stored thumbnail will do
// whose shorter side is at least that.
func planFile(file []byte, b *Budget, side int) (p plan, err error) {
	f := formatUnknown
	defer guard(&f, &err)
	if f, err = identify(file); err != nil {
		return p, err
	}
	if p, err = planFormat(f, file, b, side); err != nil {
		return p, decodeError(f, err)
	}
	if p.format == "" {
		p.format = f
	}
	p.bytes += fixedBytes
	if p.profile == nil {
		p.profile = metadata(file, f).ICC
	}
	p.open = inSRGB(p.open, p.profile)
	return p, nil
}

func planFormat(f format, file []byte, b *Budget, side int) (p plan, err error) {
	switch f {
	case formatWebP:
		return planWebP(file, b)
	case formatHEIC, formatAVIF:
		return planHEIF(file, b, side)
	case formatTIFF:
		return planTIFF(file, b)
	case formatBMP:
		return planBMP(file, b)
	}
	header, planIt := codec(f)
	c, err := header(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(f, c.Width, c.Height); err != nil {
		return p, err
	}
	p, err = planIt(file, c)
	p.width, p.height = c.Width, c.Height
	return p, err
}

// codec returns what reads the header of a format, and what plans the rest of a
// file.
func codec(f format) (header func(io.Reader) (image.Config, error), planIt func([]byte, image.Config) (plan, error)) {
	switch f {
	case formatJPEG:
		return jpeg.DecodeConfig, planJPEG
	case formatGIF:
		return gif.DecodeConfig, planGIF
	default:
		return png.DecodeConfig, planPNG
	}
}

// size returns the size of the decoded picture.
func (p plan) size() (width, height int) {
	by := max(1, p.by)
	return (p.width + by - 1) / by, (p.height + by - 1) / by
}

// pixels returns the number of pixels of a size that checkSize has accepted.
func pixels(width, height int) int64 { return int64(width) * int64(height) }

// planPNG: interlaced pictures are decoded in passes of their own, which
// together have as many pixels as the picture; rows are read twice.
func planPNG(file []byte, c image.Config) (plan, error) {
	const depthAt, kindAt, interlaceAt = 24, 25, 28 // of IHDR, the first chunk
	const grey, palette = 0, 3
	perPixel := int64(4)
	switch kind := file[kindAt]; {
	case kind == palette, kind == grey && !bytes.Contains(file, []byte("tRNS")):
		perPixel = 1
	}
	if file[depthAt] == 16 {
		perPixel *= 2
	}
	passes, rows := int64(1), int64(2)
	if file[interlaceAt] != 0 {
		passes, rows = 2, 6
	}
	channels := map[byte]int64{2: 3, 4: 2, 6: 4}[file[kindAt]]
	row := int64(c.Width)*max(1, channels)*int64(file[depthAt])/8 + 64
	raw := rawPNG(max(1, channels)*int64(file[depthAt]), c, file[interlaceAt] != 0)
	p := plan{bytes: passes*perPixel*pixels(c.Width, c.Height) + rows*row,
		open: func(ctx context.Context) (raster, error) { return openPNG(ctx, file, raw) }}
	if !isPNGWhole(file) {
		p.bytes += 4*raw + 2*int64(len(file)) // for salvagePNG
	}
	return p, nil
}

func openPNG(ctx context.Context, file []byte, raw int64) (raster, error) {
	m, err := png.Decode(interruptible(ctx, bytes.NewReader(file)))
	if err != nil && ctx.Err() == nil && !isPNGWhole(file) {
		m, err = salvagePNG(ctx, file, raw, err)
	}
	if err != nil {
		return nil, err
	}
	scaleBits(ctx, m, significantPNG(file))
	return newRaster(m)
}
