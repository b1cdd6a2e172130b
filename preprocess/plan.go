package preprocess

import (
	"bytes"
	"encoding/binary"
	"image/gif"
	"image/png"

	"golang.org/x/image/bmp"
)

// A plan is how a file is to be decoded, and what that takes.
type plan struct {
	format        format
	width, height int // as in the header
	by            int // decoded at 1/by of its size; 0 means 1
	// bytes is at least what open and the raster allocate, garbage included.
	bytes int64
	open  func() (raster, error)
}

// fixedBytes covers what decoders allocate for any file: windows, tables,
// readers, rows of usual length.
const fixedBytes = 256 << 10

// planFile reads a file's header.
func planFile(file []byte, b *Budget) (p plan, err error) {
	f := formatUnknown
	defer guard(&f, &err)
	if f, err = identify(file); err != nil {
		return p, err
	}
	if p, err = planner(f)(file, b); err != nil {
		return p, decodeError(f, err)
	}
	p.format = f
	p.bytes += fixedBytes
	return p, nil
}

func planner(f format) func(file []byte, b *Budget) (plan, error) {
	switch f {
	case formatJPEG:
		return planJPEG
	case formatWebP:
		return planWebP
	case formatGIF:
		return planGIF
	case formatPNG:
		return planPNG
	case formatBMP:
		return planBMP
	default:
		return planTIFF
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
func planPNG(file []byte, b *Budget) (p plan, err error) {
	c, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatPNG, c.Width, c.Height); err != nil {
		return p, err
	}
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
	return plan{
		width: c.Width, height: c.Height,
		bytes: passes*perPixel*pixels(c.Width, c.Height) + rows*row,
		open: func() (raster, error) {
			m, err := png.Decode(bytes.NewReader(file))
			if err != nil {
				return nil, err
			}
			return newRaster(m)
		},
	}, nil
}

func planBMP(file []byte, b *Budget) (p plan, err error) {
	c, err := bmp.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatBMP, c.Width, c.Height); err != nil {
		return p, err
	}
	const depthAt = 28
	perPixel := int64(4)
	if binary.LittleEndian.Uint16(file[depthAt:]) <= 8 {
		perPixel = 1
	}
	return plan{
		width: c.Width, height: c.Height,
		bytes: perPixel*pixels(c.Width, c.Height) + 4*int64(c.Width),
		open: func() (raster, error) {
			m, err := bmp.Decode(bytes.NewReader(file))
			if err != nil {
				return nil, err
			}
			return newRaster(m)
		},
	}, nil
}

// planGIF: the frame may be as large as the canvas, and is copied if it is
// interlaced.
func planGIF(file []byte, b *Budget) (p plan, err error) {
	c, err := gif.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatGIF, c.Width, c.Height); err != nil {
		return p, err
	}
	return plan{
		width: c.Width, height: c.Height,
		bytes: 2 * pixels(c.Width, c.Height),
		open:  func() (raster, error) { return openGIF(file, c) },
	}, nil
}
