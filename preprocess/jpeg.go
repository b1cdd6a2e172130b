package preprocess

import (
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
)

// planJPEG decodes the stored channels with image/jpeg; rasters that follow
// libjpeg do upsampling and colour conversion.
func planJPEG(file []byte, c image.Config) (p plan, err error) {
	h, err := readJPEGHeader(file)
	if err != nil {
		return p, err
	}
	if h.width != c.Width || h.height != c.Height {
		return p, fmt.Errorf("%w: two frame headers that differ", ErrCorrupt)
	}
	complete, err := checkScans(file, h.firstScan)
	if err != nil {
		return p, err
	}
	open := func(ctx context.Context) (raster, error) {
		m, err := jpeg.Decode(interruptible(ctx, h.raw(file)))
		switch {
		case err == nil:
			return jpegRaster(h, m)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !complete:
			err = io.ErrUnexpectedEOF // image/jpeg may say "short Huffman data"
		}
		return h.salvage(ctx, file, err)
	}
	return plan{bytes: h.goBytes(), open: open}, nil
}

// goBytes is what image/jpeg and the rasters allocate: the channels in whole
// blocks, a progressive file's coefficients (int32), and for four channels
// image.CMYK and its parts.
func (h *jpegHeader) goBytes() int64 {
	perSample := int64(1)
	if h.progressive {
		perSample += 4
	}
	n := perSample*blockSamples*h.blocks() + 32*int64(h.width)
	if len(h.components) == 4 {
		n += 8 * pixels(h.width, h.height)
	}
	return n
}

// nativeBytes is what libjpeg allocates: rows, and the coefficients (int16) of a
// picture in several scans.
func (h *jpegHeader) nativeBytes() int64 {
	n := 256*int64(h.width) + 16*int64(h.height)
	if h.progressive || h.firstComponents < len(h.components) {
		n += 2 * blockSamples * h.blocks()
	}
	return n
}

func jpegRaster(h *jpegHeader, m image.Image) (raster, error) {
	switch m := m.(type) {
	case *image.Gray:
		return newRaster(m)
	case *image.YCbCr:
		return newYCbCrRaster(h, m)
	case *image.CMYK:
		return newCMYKRaster(h, m)
	}
	return nil, fmt.Errorf("%w: unexpected channels %T", ErrCorrupt, m)
}

// A plane is one stored channel at its own resolution, without the padding to
// whole blocks, which libjpeg's upsampling does not read either.
type plane struct {
	pix           []byte
	stride        int
	width, height int
}

// line returns row y, clamped to the edges.
func (p plane) line(y int) []byte {
	y = min(max(y, 0), p.height-1)
	return p.pix[y*p.stride : y*p.stride+p.width]
}

// newPlane crops a channel to the size that covers width×height when stretched
// by the given factors.
func newPlane(pix []byte, stride, width, height, across, down int) plane {
	return plane{
		pix: pix, stride: stride,
		width:  (width + across - 1) / across,
		height: (height + down - 1) / down,
	}
}

// A colourRow converts luma (or red) and upsampled chroma to RGB.
type colourRow func(dst, luma []byte, chroma []uint32)

// A ycbcrRaster upsamples and converts three channels.
type ycbcrRaster struct {
	luma, cb, cr plane
	upsample     upsampler
	convert      colourRow
	chroma       []uint32
}

func newYCbCrRaster(h *jpegHeader, m *image.YCbCr) (raster, error) {
	if len(h.components) != 3 {
		return nil, fmt.Errorf("%w: three channels where the header says %d", ErrCorrupt, len(h.components))
	}
	across, down := h.factors(1)
	r := &ycbcrRaster{
		luma:    newPlane(m.Y, m.YStride, h.width, h.height, 1, 1),
		cb:      newPlane(m.Cb, m.CStride, h.width, h.height, across, down),
		cr:      newPlane(m.Cr, m.CStride, h.width, h.height, across, down),
		convert: ycbcrRow,
	}
	if h.isRGB() {
		r.convert = rgbRow
	}
	r.prepare(across, down)
	return r, nil
}

func (r *ycbcrRaster) prepare(across, down int) {
	r.upsample = libjpegUpsampler(across, down, r.cb.width)
	r.chroma = make([]uint32, r.cb.width*across)
}

func (r *ycbcrRaster) size() (width, height int) { return r.luma.width, r.luma.height }

func (r *ycbcrRaster) row(dst []byte, y, x0, x1 int) {
	r.upsample(r.chroma, r.cb, r.cr, y)
	r.convert(dst[:3*(x1-x0)], r.luma.line(y)[x0:x1], r.chroma[x0:x1])
}

// A cmykRaster upsamples and converts four channels: the second and third may
// be subsampled, the fourth (black) has full size. All are stored inverted.
type cmykRaster struct {
	ycbcrRaster
	black plane
	flip  byte // xor that turns the output of convert into ink
	cmy   []byte
}

// newCMYKRaster extracts the stored samples from image.CMYK, where they are
// interleaved, inverted and, if subsampled, repeated 2×2.
func newCMYKRaster(h *jpegHeader, m *image.CMYK) (raster, error) {
	if len(h.components) != 4 {
		return nil, fmt.Errorf("%w: four channels where the header says %d", ErrCorrupt, len(h.components))
	}
	across, down := h.factors(1)
	r := &cmykRaster{cmy: make([]byte, 3*h.width)}
	r.luma = extract(m, h, 0, 1, 1)
	r.cb = extract(m, h, 1, across, down)
	r.cr = extract(m, h, 2, across, down)
	r.black = extract(m, h, 3, 1, 1)
	r.convert, r.flip = rgbRow, 0xff
	if h.isYCCK() {
		r.convert, r.flip = ycbcrRow, 0
	}
	r.prepare(across, down)
	return r, nil
}

func extract(m *image.CMYK, h *jpegHeader, channel, across, down int) plane {
	p := newPlane(nil, 0, h.width, h.height, across, down)
	p.stride = p.width
	p.pix = make([]byte, p.width*p.height)
	for y := range p.height {
		src := m.Pix[y*down*m.Stride+channel:]
		dst := p.line(y)
		for x := range dst {
			dst[x] = 255 - src[4*x*across]
		}
	}
	return p
}

// row follows Pillow's cmyk2rgb: k − ink·k/255, where k is the light that
// black leaves. Stored inks are inverted; YCCK's colour part, converted to
// RGB, is not.
func (r *cmykRaster) row(dst []byte, y, x0, x1 int) {
	n := 3 * (x1 - x0)
	r.ycbcrRaster.row(r.cmy[:n], y, x0, x1)
	black := r.black.line(y)[x0:x1]
	for i, v := range r.cmy[:n] {
		k := uint32(black[i/3])
		dst[i] = byte(k) - div255(uint32(v^r.flip)*k)
	}
}
