package heif

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Errors of the functions of this package.
var (
	// ErrDamaged reports that a file violates its format.
	ErrDamaged = errors.New("damaged HEIF file")
	// ErrUnsupported reports a kind of picture that is not decoded.
	ErrUnsupported = errors.New("unsupported kind of HEIF file")
	// ErrMemory reports that a file exceeds a limit.
	ErrMemory = errors.New("a HEIF file that exceeds a limit")
	// ErrShort reports that a file ends too early.
	ErrShort = errors.New("a HEIF file that is cut short")
)

// Limits bound what a file may take.
type Limits struct {
	Pixels, Memory int64
}

// most items, tiles and parts of an item of any photo.
const mostItems, mostTiles = 4000, 4096

// A Header is what a file says about its primary picture.
type Header struct {
	Width, Height int // upright and cropped
	Alpha         bool
	Depth         int // bits of a sample
	Tiles         int // 1 if it is no grid
	TilePixels    int64
	Profile       []byte // ICC, nil if there is none
	Thumbnails    []Thumbnail
}

// A Thumbnail is a smaller version of the picture, stored with it.
type Thumbnail struct {
	ID            uint32
	Width, Height int
}

// Bytes is the memory that decoding takes beside what it returns, with some to spare.
func (h Header) Bytes() int64 {
	perPixel := int64(10)
	if h.Depth > 8 {
		perPixel = 22
	}
	const fixed = 4 << 20
	return fixed + perPixel*int64(h.Width)*int64(h.Height) + 2*perPixel*h.TilePixels
}

// Header reads a file up to its picture.
func (l *Library) Header(file []byte, most Limits) (h Header, err error) {
	err = l.opened(file, most, func(handle uintptr) error {
		h = l.header(handle)
		return nil
	})
	return h, err
}

func (l *Library) header(handle uintptr) Header {
	h := Header{Width: int(l.width(handle)), Height: int(l.height(handle)), Alpha: l.alpha(handle) != 0,
		Depth: int(l.depth(handle)), Tiles: 1}
	h.TilePixels = int64(h.Width) * int64(h.Height)
	t := tiling{version: 1}
	if l.tiling(handle, 0, &t).code == 0 {
		h.Tiles = int(t.columns) * int(t.rows)
		h.TilePixels = int64(t.tileWidth) * int64(t.tileHeight)
	}
	if n := l.profileBytes(handle); n > 0 && n < mostProfile {
		profile := make([]byte, n)
		if l.getProfile(handle, &profile[0]).code == 0 {
			h.Profile = profile
		}
	}
	var ids [16]uint32
	for _, id := range ids[:max(0, l.thumbnails(handle, &ids[0], int32(len(ids))))] {
		var thumbnail uintptr
		if l.getThumbnail(handle, id, &thumbnail).code == 0 {
			h.Thumbnails = append(h.Thumbnails, Thumbnail{id, int(l.width(thumbnail)), int(l.height(thumbnail))})
			l.freeHandle(thumbnail)
		}
	}
	return h
}

const mostProfile = 4 << 20

// A Picture is 8-bit RGB, or RGBA with straight alpha, packed.
type Picture struct {
	Width, Height, Channels int
	Pix                     []byte
	// Missing is how many tiles could not be decoded.
	Missing int
}

// Decode decodes the primary picture of a file, or a thumbnail of it (0 for none). Errors wrap those
// above or are ctx's, which ends it between two tiles.
func (l *Library) Decode(ctx context.Context, file []byte, most Limits, thumbnail uint32) (p *Picture, err error) {
	err = l.opened(file, most, func(handle uintptr) error {
		if thumbnail != 0 {
			var small uintptr
			if err := l.check(l.getThumbnail(handle, thumbnail, &small)); err != nil {
				return err
			}
			defer l.freeHandle(small)
			handle = small
		}
		p, err = l.picture(ctx, handle)
		return err
	})
	return p, err
}

// opened calls use with the primary picture of a file.
func (l *Library) opened(file []byte, most Limits, use func(handle uintptr) error) error {
	if len(file) == 0 {
		return ErrShort
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&file[0])
	all := l.newContext()
	if all == 0 {
		return ErrMemory
	}
	defer l.freeContext(all)
	set := l.limits(all)
	set.pixels, set.tiles, set.items = uint64(most.Pixels), mostTiles, mostItems
	set.profile, set.block, set.memory = mostProfile, uint64(most.Memory), uint64(most.Memory)
	set.extents, set.children = mostItems, mostItems
	l.setThreads(all, 0) // the threads are ours
	if err := l.check(l.read(all, &file[0], uintptr(len(file)), 0)); err != nil {
		return err
	}
	var handle uintptr
	if err := l.check(l.primary(all, &handle)); err != nil {
		return err
	}
	defer l.freeHandle(handle)
	return use(handle)
}

// Values of heif_colorspace, heif_chroma and heif_channel.
const (
	spaceRGB           = 1
	interleavedRGB     = 10
	interleavedRGBA    = 11
	channelInterleaved = 10
)

func (l *Library) picture(ctx context.Context, handle uintptr) (*Picture, error) {
	o := l.newOptions()
	if o == nil {
		return nil, ErrMemory
	}
	defer l.freeOptions(o)
	o.eightBits = 1
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Picture{Channels: 3}
	chroma := int32(interleavedRGB)
	if l.alpha(handle) != 0 {
		p.Channels, chroma = 4, interleavedRGBA
	}
	var image uintptr
	if err := l.check(l.decode(handle, &image, spaceRGB, chroma, o)); err != nil {
		return nil, err
	}
	defer l.freeImage(image)
	p.Missing = l.missing(image)
	return p, l.copyPixels(p, image)
}

// missing returns how many tiles a picture lacks: there is a warning for each, among others that say what
// is odd about its colours.
func (l *Library) missing(image uintptr) (n int) {
	const firstColour, lastColour, contradiction = 133, 135, 152
	all := make([]failure, l.warnings(image, 0, nil, 0))
	if len(all) == 0 {
		return 0
	}
	for _, w := range all[:l.warnings(image, 0, &all[0], int32(len(all)))] {
		if (w.detail < firstColour || w.detail > lastColour) && w.detail != contradiction {
			n++
		}
	}
	return n
}

// copyPixels copies what was decoded.
func (l *Library) copyPixels(p *Picture, image uintptr) error {
	p.Width, p.Height = int(l.imageWidth(image, channelInterleaved)), int(l.imageHeight(image, channelInterleaved))
	var stride int32
	data := l.plane(image, channelInterleaved, &stride)
	row := p.Channels * p.Width
	if data == nil || p.Width < 1 || p.Height < 1 || int(stride) < row {
		return fmt.Errorf("%w: no pixels", ErrDamaged)
	}
	p.Pix = make([]byte, row*p.Height)
	rows := unsafe.Slice((*byte)(data), (p.Height-1)*int(stride)+row)
	for y := range p.Height {
		copy(p.Pix[y*row:], rows[y*int(stride):][:row])
	}
	return nil
}

// check turns a heif_error into one of ours.
func (l *Library) check(f failure) error {
	const noFile, unsupportedFile, unsupportedFeature, memory = 1, 3, 4, 6
	const endOfData, limitExceeded = 100, 1000
	if f.code == 0 {
		return nil
	}
	kind := ErrDamaged
	switch {
	case f.detail == endOfData:
		kind = ErrShort
	case f.code == memory, f.detail == limitExceeded:
		kind = ErrMemory
	case f.code == unsupportedFile, f.code == unsupportedFeature:
		kind = ErrUnsupported
	}
	return fmt.Errorf("%w: %s", kind, text(f.message))
}

// text copies a message.
func text(p *byte) string {
	const most = 200
	var b strings.Builder
	for i := 0; p != nil && i < most; i++ {
		c := *(*byte)(unsafe.Add(unsafe.Pointer(p), i))
		if c == 0 {
			break
		}
		b.WriteByte(c)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
