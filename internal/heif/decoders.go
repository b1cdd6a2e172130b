package heif

import (
	"bytes"
	"context"
	"sync"
)

// Decoders decode pictures with what this machine has. They start when they are
// first needed, and are safe for concurrent use.
type Decoders struct {
	find    func() (*Library, error)
	once    sync.Once
	library *Library // nil if there is none
	reason  error
	hevc    sandbox
	av1     sandbox
}

// NewDecoders returns Decoders that use libde265 if it is installed.
func NewDecoders() *Decoders {
	return &Decoders{find: Find, hevc: sandbox{program: hevcProgram}, av1: sandbox{program: av1Program}}
}

// Portable returns Decoders that use only what is built in.
func Portable() *Decoders {
	d := NewDecoders()
	d.find = func() (*Library, error) { return nil, ErrNoLibrary }
	return d
}

// Library returns libde265, or an error that wraps ErrNoLibrary.
func (d *Decoders) Library() (*Library, error) {
	d.once.Do(func() { d.library, d.reason = d.find() })
	return d.library, d.reason
}

// HEVC decodes a picture whose codec is HEVC. Errors wrap ErrDamaged or
// ErrMemory, or are ctx's, which is asked before each tile, and by
// libde265 for each part of one; the built-in decoders cannot be stopped.
func (d *Decoders) HEVC(ctx context.Context, p *Picture) (*Planes, error) {
	var memory scratch
	tile := func(c *coded) (*Planes, error) { return d.hevc.tile(ctx, c, &memory) }
	if l, err := d.Library(); err == nil {
		tile = func(c *coded) (*Planes, error) { return l.tile(ctx, c) }
	}
	first := p.tiles[0]
	if len(p.tiles) == 1 && first.width == p.Width && first.height == p.Height {
		return tile(first)
	}
	out := newPlanes(p.Width, p.Height, first.chroma)
	grey := []byte{128}
	out.Y = bytes.Repeat(grey, p.Width*p.Height)
	if first.chroma != 0 {
		w, h := out.chromaSize()
		out.Cb, out.Cr = bytes.Repeat(grey, w*h), bytes.Repeat(grey, w*h)
	}
	places, tiles := p.places()
	for _, c := range tiles {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := tile(c)
		if err != nil {
			return nil, err
		}
		for _, i := range places[c] {
			out.paste(t, i%p.columns*first.width, i/p.columns*first.height)
		}
	}
	return out, nil
}

// places returns where each tile is in the grid, and the tiles in the order of their
// first places.
func (p *Picture) places() (places map[*coded][]int, tiles []*coded) {
	places = map[*coded][]int{}
	for i, c := range p.tiles {
		if c == nil {
			continue
		}
		if places[c] == nil {
			tiles = append(tiles, c)
		}
		places[c] = append(places[c], i)
	}
	return places, tiles
}

// AV1 decodes a picture whose codec is AV1. Errors are as for HEVC.
func (d *Decoders) AV1(ctx context.Context, p *Picture) (*RGBA, error) {
	return d.av1.decodeAV1(ctx, p)
}

// Bytes is the memory that decoding takes, with the result: enough for the
// decoder in the sandbox, which takes more than libde265.
func (p *Picture) Bytes() int64 {
	const instance = 320 << 10 // beside its memory
	if p.Codec == AV1 {
		return instance + p.sandboxBytes()
	}
	whole := p.tiles[0].samples(int64(p.Width) * int64(p.Height))
	largest, tiles := int64(0), int64(0)
	for _, c := range p.tiles {
		if c == nil {
			continue
		}
		largest = max(largest, c.sandboxBytes())
		tiles += instance + c.samples(int64(c.width)*int64(c.height)) + int64(len(c.data))
	}
	if p.Alpha != nil {
		largest += p.Alpha.Bytes()
	}
	return whole + largest + tiles
}

// samples is the bytes of a number of pixels with 8 bits per sample.
func (c *coded) samples(pixels int64) int64 {
	switch c.chroma {
	case 0:
		return pixels
	case 1:
		return pixels * 3 / 2
	case 2:
		return 2 * pixels
	}
	return 3 * pixels
}

// startBytes is what the decoders take for the smallest picture.
const startBytes = 6 << 20

// sandboxBytes is the memory for libheif and libde265: their pictures and what
// these carry along, three copies of the data, and the output.
func (c *coded) sandboxBytes() int64 {
	perSample := int64(4)
	if c.depth > 8 {
		perSample = 8
	}
	return startBytes + 3*int64(len(c.data)) + (perSample+1)*c.samples(c.sequence.coded)
}

// sandboxBytes is the memory for libavif and dav1d, with the output.
func (p *Picture) sandboxBytes() int64 {
	perPixel := int64(18)
	if p.depth > 8 {
		perPixel = 32
	}
	const most = 1 << 40 // more than any budget allows, and its bytes can be counted
	pixels := min(max(p.pixels, int64(p.Width)*int64(p.Height)), most)
	return startBytes + 2*int64(len(p.file.file)) + perPixel*pixels
}
