package preprocess

import (
	"context"
	"encoding/binary"
	"fmt"
	"image/color"
	"math"
	"math/bits"

	"github.com/seed-90d10d51/pipeline/preprocess/internal/vips"
)

// samples are the pixels of a picture as libvips decodes them: some channels of 8 or 16 bits, or of
// numbers of floating point.
type samples struct {
	vips.Header
	layout
	pix []byte
}

// A layout is what a file says about its samples that libvips does not.
type layout struct {
	alpha   bool // the channel after the colours is alpha
	bits    int  // that matter of 16, 0 if it does not say
	inverse bool // of numbers of floating point 0 is white
	ycbcr   bool // colours are luma and chroma
}

// colours returns the number of channels of colour.
func (s *samples) colours() int {
	n := s.Bands
	if s.alpha {
		n--
	}
	switch {
	case s.Space == vips.SpaceCMYK && n >= 4:
		return 4
	case n >= 3:
		return 3
	}
	return 1
}

// used returns how many of the channels are used.
func (s *samples) used() int {
	if s.alpha {
		return s.colours() + 1
	}
	return s.colours()
}

// picture returns the picture of which all rows are there.
func (s *samples) picture(ctx context.Context) (raster, error) {
	if s.Bands > s.used() {
		remark(ctx, RemarkBands)
	}
	switch s.Format {
	case vips.Words:
		s.scaleBits(ctx)
	case vips.Floats:
		if err := s.roundFloats(ctx); err != nil {
			return nil, err
		}
	}
	size := s.SampleBytes()
	return &pixelRaster{width: s.Width, height: s.Height, pix: s.pix, stride: s.RowBytes(), pixelBytes: s.Bands * size,
		convert: s.converter()}, nil
}

// highByte is where the byte of a sample of a size stands that is shown.
func highByte(size int) int {
	var probe [2]byte
	if binary.NativeEndian.PutUint16(probe[:], 1<<8); size == 2 && probe[1] == 1 {
		return 1
	}
	return 0
}

// converter returns what turns packed samples to RGB.
func (s *samples) converter() func(dst, src []byte) {
	size := s.SampleBytes()
	at, step, colours := highByte(size), s.Bands*size, s.colours()
	if colours == 3 && step == 3 && !s.ycbcr {
		return func(dst, src []byte) { copy(dst, src) }
	}
	green, blue := size, 2*size
	if colours == 1 {
		green, blue = 0, 0
	}
	alpha := colours * size
	return func(dst, src []byte) {
		for i := at; i+step-at <= len(src) && len(dst) >= 3; i += step {
			d, p := dst[:3:3], src[i:i+step-at]
			d[0], d[1], d[2] = p[0], p[green], p[blue]
			if colours == 4 {
				inkToLight(d, p[3*size])
			}
			if s.ycbcr {
				d[0], d[1], d[2] = color.YCbCrToRGB(d[0], d[1], d[2])
			}
			if s.alpha {
				overWhite(d, p[alpha])
			}
			dst = dst[3:]
		}
	}
}

// inkToLight follows Pillow's cmyk2rgb: k − ink·k/255, where k is the light that black leaves.
func inkToLight(d []byte, black byte) {
	light := 255 - uint32(black)
	for c, ink := range d {
		d[c] = byte(light) - div255(uint32(ink)*light)
	}
}

// overWhite composites straight colours over white.
func overWhite(d []byte, alpha byte) {
	if alpha == 255 {
		return
	}
	for c, v := range d {
		d[c] = blendWhite(uint32(v), uint32(alpha))
	}
}

// fewBits is the most bits of a picture that is unscaled: what uses more of the 16 is
// not nearly black.
const fewBits = 14

// scaleBits widens samples of 16 bits of which only the low ones matter. Cameras and
// scanners of 10, 12 or 14 bits often store their values unscaled.
func (s *samples) scaleBits(ctx context.Context) {
	used := uint16(0) // all bits of all values
	s.eachColour(2, func(b []byte) { used |= binary.NativeEndian.Uint16(b) })
	switch need := bits.Len16(used); {
	case need == 0 || need > fewBits:
	case s.bits >= need && s.bits > 8 && s.bits < 16:
		s.eachColour(2, func(b []byte) {
			v := binary.NativeEndian.Uint16(b)
			binary.NativeEndian.PutUint16(b, v<<(16-s.bits)|v>>(2*s.bits-16))
		})
	default:
		remark(ctx, RemarkDark)
	}
}

// eachColour calls use with every sample of colour.
func (s *samples) eachColour(size int, use func(b []byte)) {
	colours := s.colours() * size
	for p := s.pix; len(p) >= s.Bands*size; p = p[s.Bands*size:] {
		for i := 0; i < colours; i += size {
			use(p[i : i+size])
		}
	}
}

// roundFloats turns numbers of floating point to bytes. Files do not say which number is white: it is
// 1, 255 or 65535, the least that no sample of a colour exceeds by half.
func (s *samples) roundFloats(ctx context.Context) error {
	at := func(b []byte) float64 { return float64(math.Float32frombits(binary.NativeEndian.Uint32(b))) }
	most := 0.0
	s.eachColour(4, func(b []byte) {
		if v := at(b); v > most && !math.IsInf(v, 1) {
			most = v
		}
	})
	white := 1.0
	for _, larger := range []float64{255, 65535} {
		if most > white*1.5 {
			white = larger
		}
	}
	if most > white*1.5 {
		return fmt.Errorf("%w: its numbers of floating point go to %g, and white may be 1, 255 or 65535; scale them",
			ErrFormat, most)
	}
	remark(ctx, RemarkFloat)
	for i := range len(s.pix) / 4 {
		v, high := at(s.pix[4*i:]), white
		switch isAlpha := s.alpha && i%s.Bands == s.colours(); {
		case isAlpha && v <= 1:
			high = 1
		case isAlpha:
			high = min(high, 255)
		case s.inverse:
			v = white - v
		}
		s.pix[i] = byte(min(255, max(0, v*255/high)) + 0.5) // NaN is 0
	}
	s.Format, s.pix = vips.Bytes, s.pix[:len(s.pix)/4]
	return nil
}
