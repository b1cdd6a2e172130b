package preprocess

import (
	"image"
	"image/color"
)

// A raster returns a decoded picture row by row as packed 8-bit RGB. It is not
// safe for concurrent use, since it may have scratch space.
type raster interface {
	size() (width, height int)
	// row writes pixels x0 ≤ x < x1 of row y to dst, three bytes each.
	row(dst []byte, y, x0, x1 int)
}

// blendWhite composites one straight-alpha channel over white, rounding as
// Pillow's Image.paste does.
func blendWhite(c, alpha uint32) byte {
	return div255(c*alpha + 255*(255-alpha))
}

// div255 returns x/255 rounded to nearest, exact for 0 ≤ x ≤ 255².
func div255(x uint32) byte {
	x += 128
	return byte((x + x>>8) >> 8)
}

// A pixelRaster reads one of the packed layouts of package image.
type pixelRaster struct {
	width, height int
	pix           []byte
	stride        int
	pixelBytes    int
	convert       func(dst, src []byte)
}

func (r *pixelRaster) size() (width, height int) { return r.width, r.height }

func (r *pixelRaster) row(dst []byte, y, x0, x1 int) {
	line := r.pix[y*r.stride:]
	r.convert(dst[:3*(x1-x0)], line[x0*r.pixelBytes:x1*r.pixelBytes])
}

// newRaster wraps any image that the decoders of image/* and x/image return.
// Sixteen-bit layouts are big-endian, so their high byte comes first.
func newRaster(m image.Image) raster {
	b := m.Bounds()
	r := &pixelRaster{width: b.Dx(), height: b.Dy()}
	switch m := m.(type) {
	case *image.Gray:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 1, greyRow(1)
	case *image.Gray16:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 2, greyRow(2)
	case *image.RGBA:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 4, premultipliedRow(1)
	case *image.RGBA64:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 8, premultipliedRow(2)
	case *image.NRGBA:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 4, straightRow(1)
	case *image.NRGBA64:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 8, straightRow(2)
	case *image.Paletted:
		r.pix, r.stride, r.pixelBytes, r.convert = m.Pix, m.Stride, 1, paletteRow(m.Palette)
	default:
		return &anyRaster{m}
	}
	return r
}

// An anyRaster reads a picture of any layout, as Go converts its colours.
type anyRaster struct{ image.Image }

func (r *anyRaster) size() (width, height int) { return r.Bounds().Dx(), r.Bounds().Dy() }

func (r *anyRaster) row(dst []byte, y, x0, x1 int) {
	at := r.Bounds().Min
	ycbcr, _ := r.Image.(*image.YCbCr)
	for x := x0; x < x1; x++ {
		d := dst[3*(x-x0):][:3]
		if ycbcr != nil { // which most JPEG is
			c := ycbcr.YCbCrAt(at.X+x, at.Y+y)
			d[0], d[1], d[2] = color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			continue
		}
		c := straight(r.At(at.X+x, at.Y+y))
		d[0], d[1], d[2] = c.R, c.G, c.B
		overWhite(d, c.A)
	}
}

// greyRow converts grey samples of the given number of bytes.
func greyRow(sample int) func(dst, src []byte) {
	return func(dst, src []byte) {
		for i := 0; i+sample <= len(src); i += sample {
			v := src[i]
			dst[0], dst[1], dst[2] = v, v, v
			dst = dst[3:]
		}
	}
}

// straightRow converts R, G, B, A with straight alpha.
func straightRow(sample int) func(dst, src []byte) {
	return func(dst, src []byte) {
		for i := 0; i+4*sample <= len(src); i += 4 * sample {
			p := src[i : i+4*sample]
			dst[0], dst[1], dst[2] = p[0], p[sample], p[2*sample]
			if a := uint32(p[3*sample]); a != 255 {
				for c := range 3 {
					dst[c] = blendWhite(uint32(dst[c]), a)
				}
			}
			dst = dst[3:]
		}
	}
}

// premultipliedRow converts R, G, B, A with colours premultiplied by alpha:
// over white they become c + (255 − a).
func premultipliedRow(sample int) func(dst, src []byte) {
	return func(dst, src []byte) {
		for i := 0; i+4*sample <= len(src); i += 4 * sample {
			p := src[i : i+4*sample]
			white := 255 - int32(p[3*sample])
			for c := range 3 {
				dst[c] = clip8(int32(p[c*sample]) + white)
			}
			dst = dst[3:]
		}
	}
}

// paletteRow looks colours up in a table of 256, so that no index is out of
// range; missing palette entries are black.
func paletteRow(p color.Palette) func(dst, src []byte) {
	table := paletteTable(p)
	return func(dst, src []byte) {
		for _, index := range src {
			c := &table[index]
			dst[0], dst[1], dst[2] = c[0], c[1], c[2]
			dst = dst[3:]
		}
	}
}

func paletteTable(p color.Palette) *[256][3]byte {
	var table [256][3]byte
	for i := range min(len(p), 256) {
		c, ok := p[i].(color.NRGBA)
		if !ok {
			c = straight(p[i])
		}
		a := uint32(c.A)
		table[i] = [3]byte{blendWhite(uint32(c.R), a), blendWhite(uint32(c.G), a), blendWhite(uint32(c.B), a)}
	}
	return &table
}

func straight(c color.Color) color.NRGBA {
	if c == nil {
		return color.NRGBA{A: 255}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// clip8 clamps to 0 … 255.
func clip8(v int32) byte {
	if uint32(v) > 255 {
		return byte(^(v >> 31))
	}
	return byte(v)
}

// A canvas shows a smaller picture at an offset on a plain background (GIF
// and animated WebP frames).
type canvas struct {
	width, height int
	x, y          int
	background    [3]byte
	frame         raster
}

func (r *canvas) size() (width, height int) { return r.width, r.height }

func (r *canvas) row(dst []byte, y, x0, x1 int) {
	for i := 0; i < 3*(x1-x0); i += 3 {
		copy(dst[i:i+3], r.background[:])
	}
	w, h := r.frame.size()
	if y < r.y || y >= r.y+h {
		return
	}
	from, to := max(x0, r.x), min(x1, r.x+w)
	if from < to {
		r.frame.row(dst[3*(from-x0):], y-r.y, from-r.x, to-r.x)
	}
}
