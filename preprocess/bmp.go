package preprocess

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// Compressions of BMP files.
const (
	bmpRGB       = 0
	bmpRLE8      = 1
	bmpRLE4      = 2
	bmpBitfields = 3
	bmpAlpha     = 6 // bitfields with a mask for alpha
)

const (
	bmpFileHeader = 14
	bmpOldHeader  = 12 // OS/2 1
	bmpInfoHeader = 40
)

// A bmpHeader is what the headers of all versions say: OS/2 1 (12 bytes) and 2 (16 or 64),
// Windows 3 (40, with masks 52 or 56), 4 (108) and 5 (124).
type bmpHeader struct {
	width, height int
	topDown       bool
	depth         int // bits of a pixel
	compression   uint32
	palette       [][3]byte
	masks         [4]uint32 // red, green, blue, alpha
	data          []byte
}

// readBMP reads the headers of a file whose signature has been checked.
func readBMP(file []byte) (h *bmpHeader, err error) {
	size := int(binary.LittleEndian.Uint32(file[bmpFileHeader:]))
	if len(file) < bmpFileHeader+size {
		return nil, io.ErrUnexpectedEOF
	}
	info, h := file[bmpFileHeader:bmpFileHeader+size], &bmpHeader{}
	colours := 0
	if size == bmpOldHeader {
		h.width, h.height = int(binary.LittleEndian.Uint16(info[4:])), int(binary.LittleEndian.Uint16(info[6:]))
		h.depth = int(binary.LittleEndian.Uint16(info[10:]))
	} else {
		colours = h.takeInfo(info)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	rest := file[bmpFileHeader+size:]
	rest = h.takeMasks(info, rest)
	h.takePalette(rest, colours, size == bmpOldHeader)
	from := uint64(binary.LittleEndian.Uint32(file[10:]))
	h.data = file[min(from, uint64(len(file))):]
	return h, nil
}

// takeInfo returns the number of colours of the palette, 0 for the default.
func (h *bmpHeader) takeInfo(info []byte) (colours int) {
	le := binary.LittleEndian
	h.width, h.height = int(int32(le.Uint32(info[4:]))), int(int32(le.Uint32(info[8:])))
	if h.height < 0 {
		h.height, h.topDown = -h.height, true
	}
	h.depth = int(le.Uint16(info[14:]))
	if len(info) >= bmpInfoHeader {
		h.compression, colours = le.Uint32(info[16:]), int(min(le.Uint32(info[32:]), 256))
	}
	return colours
}

func (h *bmpHeader) check() error {
	known := false
	switch h.compression {
	case bmpRGB:
		switch h.depth {
		case 1, 2, 4, 8, 16, 24, 32:
			known = true
		}
	case bmpRLE8:
		known = h.depth == 8
	case bmpRLE4:
		known = h.depth == 4
	case bmpBitfields, bmpAlpha:
		known = h.depth == 16 || h.depth == 32
	}
	if !known {
		return fmt.Errorf("%w: this BMP has compression %d and %d bits a pixel, which cannot be decoded; convert it "+
			"to JPEG or PNG", ErrFormat, h.compression, h.depth)
	}
	return nil
}

// takeMasks reads the masks of bitfields, which are in newer headers and follow older
// ones, and returns what is after them.
func (h *bmpHeader) takeMasks(info, rest []byte) []byte {
	h.masks = [4]uint32{0xff0000, 0xff00, 0xff}
	if h.depth == 16 {
		h.masks = [4]uint32{0x7c00, 0x3e0, 0x1f}
	}
	if h.compression != bmpBitfields && h.compression != bmpAlpha {
		return rest
	}
	at, after := info[min(bmpInfoHeader, len(info)):], rest
	if len(at) < 12 {
		at = rest
		n := 12
		if h.compression == bmpAlpha {
			n = 16
		}
		at, after = rest[:min(n, len(rest))], rest[min(n, len(rest)):]
	}
	for c := 0; c < 4 && 4*c+4 <= len(at); c++ {
		h.masks[c] = binary.LittleEndian.Uint32(at[4*c:])
	}
	return after
}

func (h *bmpHeader) takePalette(rest []byte, colours int, old bool) {
	if h.depth > 8 {
		return
	}
	if colours == 0 {
		colours = 1 << h.depth
	}
	entry := 4
	if old {
		entry = 3
	}
	h.palette = make([][3]byte, 256) // no index is out of range; what is missing is black
	for i := 0; i < colours && entry*(i+1) <= len(rest); i++ {
		p := rest[entry*i:]
		h.palette[i] = [3]byte{p[2], p[1], p[0]}
	}
}

// stride is the number of bytes of a row, a multiple of 4.
func (h *bmpHeader) stride() int { return (h.width*h.depth + 31) / 32 * 4 }

func (h *bmpHeader) runLength() bool { return h.compression == bmpRLE4 || h.compression == bmpRLE8 }

func planBMP(file []byte, b *Budget) (p plan, err error) {
	h, err := readBMP(file)
	if err != nil {
		return p, err
	}
	if err := b.checkSize(formatBMP, h.width, h.height); err != nil {
		return p, err
	}
	n := 3 * pixels(h.width, h.height)
	if h.runLength() {
		n += pixels(h.width, h.height)
	}
	return plan{width: h.width, height: h.height, bytes: n,
		open: func(ctx context.Context) (raster, error) { return h.open(ctx) }}, nil
}

func (h *bmpHeader) open(ctx context.Context) (raster, error) {
	m := &Image{Width: h.width, Height: h.height, Pix: make([]byte, 3*h.width*h.height)}
	data, stride, convert := h.data, h.stride(), h.rowOf()
	if h.runLength() {
		data, stride, convert = h.expand(), h.width, h.indexed(8)
	}
	for i := range h.height {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) < stride {
			return m, incomplete(ctx, int64(i), int64(h.height))
		}
		y := h.height - 1 - i
		if h.topDown {
			y = i
		}
		convert(m.Pix[3*h.width*y:3*h.width*(y+1)], data[:stride])
		data = data[stride:]
	}
	return m, nil
}

func (h *bmpHeader) rowOf() func(dst, src []byte) {
	switch {
	case h.depth <= 8:
		return h.indexed(h.depth)
	case h.depth == 24:
		return func(dst, src []byte) {
			for i := 0; i+3 <= len(dst); i += 3 {
				dst[i], dst[i+1], dst[i+2] = src[i+2], src[i+1], src[i]
			}
		}
	}
	return h.masked()
}

// indexed reads indices of that many bits, the first in the high bits.
func (h *bmpHeader) indexed(depth int) func(dst, src []byte) {
	perByte, mask := 8/depth, byte(1<<depth-1)
	return func(dst, src []byte) {
		for x := range len(dst) / 3 {
			index := src[x/perByte] >> (8 - depth*(x%perByte+1)) & mask
			copy(dst[3*x:], h.palette[index][:])
		}
	}
}

// masked reads pixels of 16 or 32 bits whose channels are where the masks say.
func (h *bmpHeader) masked() func(dst, src []byte) {
	size := h.depth / 8
	return func(dst, src []byte) {
		for x := range len(dst) / 3 {
			v := uint32(binary.LittleEndian.Uint16(src[size*x:]))
			if size == 4 {
				v |= uint32(binary.LittleEndian.Uint16(src[size*x+2:])) << 16
			}
			d := dst[3*x : 3*x+3]
			for c := range d {
				d[c] = channel(v, h.masks[c])
			}
			if h.masks[3] != 0 {
				a := uint32(channel(v, h.masks[3]))
				for c := range d {
					d[c] = blendWhite(uint32(d[c]), a)
				}
			}
		}
	}
}

// channel returns the bits of a mask, stretched to 8.
func channel(v, mask uint32) byte {
	if mask == 0 {
		return 0
	}
	low := bits.TrailingZeros32(mask)
	most := uint64(mask >> low)
	return byte((uint64(v&mask>>low)*255 + most/2) / most)
}
