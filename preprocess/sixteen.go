package preprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"math/bits"
)

// scaleBits widens samples of 16 bits of which only the low ones matter. Cameras and
// scanners of 10, 12 or 14 bits often store their values unscaled. known is how many
// bits the file says that matter, 0 if it does not.
func scaleBits(ctx context.Context, m image.Image, known int) {
	pix, alphaAt := samples16(m)
	used := 0 // all bits of all values
	for i := 0; i+2 <= len(pix); i += 2 {
		if i%8 != alphaAt {
			used |= int(pix[i])<<8 | int(pix[i+1])
		}
	}
	switch need := bits.Len(uint(used)); {
	case need == 0 || need > fewBits:
	case known >= need && known > 8 && known < 16:
		stretch(pix, alphaAt, known)
	default:
		remark(ctx, RemarkDark)
	}
}

// fewBits is the most bits of a picture that is unscaled: what uses more of the 16 is
// not nearly black.
const fewBits = 14

// samples16 returns the samples of a layout of 16 bits, big-endian, and the offset of
// alpha in a pixel of 8 bytes, −1 if there is none.
func samples16(m image.Image) (pix []byte, alphaAt int) {
	switch m := m.(type) {
	case *image.Gray16:
		return m.Pix, -1
	case *image.RGBA64:
		return m.Pix, 6
	case *image.NRGBA64:
		return m.Pix, 6
	}
	return nil, -1
}

// stretch stretches values of that many bits over 16.
func stretch(pix []byte, alphaAt, known int) {
	for i := 0; i+2 <= len(pix); i += 2 {
		if i%8 == alphaAt {
			continue
		}
		v := binary.BigEndian.Uint16(pix[i:])
		binary.BigEndian.PutUint16(pix[i:], v<<(16-known)|v>>(2*known-16))
	}
}

// significantPNG returns the bits that sBIT says, the most of all channels.
func significantPNG(file []byte) (n int) {
	const header, chunkBytes = 8, 12
	for rest := file[header:]; len(rest) >= chunkBytes; {
		size := uint64(binary.BigEndian.Uint32(rest))
		kind := rest[4:8]
		if size+chunkBytes > uint64(len(rest)) || bytes.Equal(kind, []byte("IDAT")) {
			return 0
		}
		if bytes.Equal(kind, []byte("sBIT")) {
			for _, b := range rest[8 : 8+min(size, 3)] {
				n = max(n, int(b))
			}
			return n
		}
		rest = rest[chunkBytes+size:]
	}
	return 0
}
