package preprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// Flags of the VP8X chunk.
const (
	webpAnimated = 1 << 1
	webpAlpha    = 1 << 4
)

// A webpFrame is one frame's chunks and its position on the canvas.
type webpFrame struct {
	canvasWidth, canvasHeight int
	x, y                      int
	alpha, data               []byte
	missing                   int64 // bytes of data beyond the end of the file
	lossless                  bool
}

// planWebP reads the chunks itself and passes the decoder a plain file with one
// frame. Like libwebp, it thus accepts the first frame of an animation, and an
// alpha flag without alpha data.
func planWebP(file []byte, b *Budget) (p plan, err error) {
	f, err := readWebP(file[12:])
	if err != nil {
		return p, err
	}
	c, err := webp.DecodeConfig(bytes.NewReader(f.head().file()))
	if err != nil {
		return p, err
	}
	if err := f.fit(c, b); err != nil {
		return p, err
	}
	bytes, err := f.bytes(c), error(nil)
	if f.missing > 0 {
		if bytes, err = f.salvageBytes(c); err != nil {
			return p, err
		}
	}
	return plan{
		width: f.canvasWidth, height: f.canvasHeight,
		bytes: bytes,
		open:  func(ctx context.Context) (raster, error) { return f.open(ctx, c) },
	}, nil
}

func (f *webpFrame) open(ctx context.Context, c image.Config) (raster, error) {
	decode := f.decode
	if f.missing > 0 {
		decode = f.salvage
	}
	frame, err := decode(ctx, c)
	if err != nil {
		return nil, err
	}
	return &canvas{
		width: f.canvasWidth, height: f.canvasHeight, x: f.x, y: f.y,
		background: [3]byte{255, 255, 255}, frame: frame,
	}, nil
}

func (f *webpFrame) decode(ctx context.Context, c image.Config) (raster, error) {
	m, err := webp.Decode(interruptible(ctx, bytes.NewReader(f.alphaFile(c))))
	if err != nil {
		return nil, err
	}
	return webpRaster(m)
}

// bytes is what decoding the frame allocates: copies of its data and, for a
// lossy frame, the channels padded to macroblocks.
func (f *webpFrame) bytes(c image.Config) int64 {
	n := 8*int64(len(f.data)+len(f.alpha)) + 64*int64(c.Width)
	if f.lossless {
		return n + losslessBytes(c, len(f.data))
	}
	n += 2*pixels(c.Width+15, c.Height+15) + pixels(c.Width, c.Height)
	if f.alpha != nil {
		n += losslessBytes(c, len(f.alpha))
	}
	return n
}

// losslessBytes is what a VP8L picture takes: two copies of the pixels (4
// bytes), five maps of up to one value per 4×4 pixels, and its Huffman trees.
// x/image allows 2600 groups of trees; a group takes at most 80 kB, most of it
// for symbols, of which one bit of the file cannot describe more than two.
func losslessBytes(c image.Config, data int) int64 {
	const groups, perGroup, perEmptyGroup, perByte = 2600, 80_000, 14_000, 8 * 2 * 20
	tiles := pixels((c.Width+3)/4, (c.Height+3)/4)
	g := min(tiles, groups, int64(data)/2+1)
	return 8*pixels(c.Width, c.Height) + 5*4*tiles + min(g*perGroup, g*perEmptyGroup+perByte*int64(data))
}

// head returns the frame with only the start of its data, which has the size.
func (f *webpFrame) head() *webpFrame {
	const enough = 64
	return &webpFrame{data: f.data[:min(len(f.data), enough)], lossless: f.lossless}
}

// fit checks frame and canvas sizes.
func (f *webpFrame) fit(c image.Config, b *Budget) error {
	if err := b.checkSize(formatWebP, c.Width, c.Height); err != nil {
		return err
	}
	if f.canvasWidth == 0 {
		f.canvasWidth, f.canvasHeight = c.Width, c.Height
	}
	if err := b.checkSize(formatWebP, f.canvasWidth, f.canvasHeight); err != nil {
		return err
	}
	if f.x+c.Width > f.canvasWidth || f.y+c.Height > f.canvasHeight {
		return fmt.Errorf("%w: a frame of %d×%d at (%d, %d) leaves the canvas of %d×%d",
			ErrCorrupt, c.Width, c.Height, f.x, f.y, f.canvasWidth, f.canvasHeight)
	}
	return nil
}

// readWebP finds the first frame in the chunks after the RIFF header.
func readWebP(chunks []byte) (*webpFrame, error) {
	f := &webpFrame{}
	err := eachChunk(chunks, func(id string, body []byte, missing int64) (bool, error) {
		switch id {
		case "VP8X":
			return false, f.takeHeader(body)
		case "ANMF":
			return true, f.takeAnimation(body)
		}
		return f.take(id, body, missing)
	})
	if err == nil && f.data == nil {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// eachChunk walks RIFF chunks until visit reports that it is done. The last may lack bytes.
func eachChunk(b []byte, visit func(id string, body []byte, missing int64) (done bool, err error)) error {
	for len(b) >= 8 {
		n := int64(binary.LittleEndian.Uint32(b[4:8]))
		there := min(n, int64(len(b)-8))
		done, err := visit(string(b[:4]), b[8:8+there], n-there)
		if done || err != nil {
			return err
		}
		if there < n {
			return io.ErrUnexpectedEOF
		}
		b = b[min(int64(len(b)), 8+n+n&1):]
	}
	return nil
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func (f *webpFrame) takeHeader(body []byte) error {
	if len(body) < 10 {
		return io.ErrUnexpectedEOF
	}
	f.canvasWidth, f.canvasHeight = uint24(body[4:])+1, uint24(body[7:])+1
	return nil
}

func (f *webpFrame) takeAnimation(body []byte) error {
	if len(body) < 16 {
		return io.ErrUnexpectedEOF
	}
	f.x, f.y = 2*uint24(body), 2*uint24(body[3:])
	return eachChunk(body[16:], f.take)
}

func (f *webpFrame) take(id string, body []byte, missing int64) (done bool, err error) {
	switch id {
	case "ALPH":
		f.alpha = body
	case "VP8 ", "VP8L":
		f.data, f.missing, f.lossless = body, missing, id == "VP8L"
		return true, nil
	}
	return false, nil
}

func appendChunk(b []byte, id string, body []byte) []byte {
	b = append(b, id...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	return append(b, make([]byte, len(body)&1)...)
}

func riff(chunks []byte) []byte {
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(chunks)+4))
	return append(append(b, "WEBP"...), chunks...)
}

// file returns the frame as a simple WebP file, without alpha if it is lossy.
func (f *webpFrame) file() []byte {
	id := "VP8 "
	if f.lossless {
		id = "VP8L"
	}
	return riff(appendChunk(nil, id, f.data))
}

// alphaFile is file with the alpha chunk of a lossy frame whose size is known.
func (f *webpFrame) alphaFile(c image.Config) []byte {
	if f.lossless || f.alpha == nil {
		return f.file()
	}
	head := make([]byte, 10)
	head[0] = webpAlpha
	for i := range 3 {
		head[4+i] = byte((c.Width - 1) >> (8 * i))
		head[7+i] = byte((c.Height - 1) >> (8 * i))
	}
	b := appendChunk(nil, "VP8X", head)
	b = appendChunk(b, "ALPH", f.alpha)
	return riff(appendChunk(b, "VP8 ", f.data))
}

// webpRaster converts lossy frames as libwebp does.
func webpRaster(m image.Image) (raster, error) {
	switch m := m.(type) {
	case *image.YCbCr:
		return newLossyRaster(m, nil, 0), nil
	case *image.NYCbCrA:
		return newLossyRaster(&m.YCbCr, m.A, m.AStride), nil
	}
	return newRaster(m)
}

// A lossyRaster is a VP8 frame, always 4:2:0, with optional straight alpha.
type lossyRaster struct {
	luma, cb, cr plane
	alpha        *plane
	chroma       []uint32
}

func newLossyRaster(m *image.YCbCr, alpha []byte, alphaStride int) *lossyRaster {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	r := &lossyRaster{
		luma:   newPlane(m.Y, m.YStride, w, h, 1, 1),
		cb:     newPlane(m.Cb, m.CStride, w, h, 2, 2),
		cr:     newPlane(m.Cr, m.CStride, w, h, 2, 2),
		chroma: make([]uint32, 2*((w+1)/2)),
	}
	if alpha != nil {
		r.alpha = new(newPlane(alpha, alphaStride, w, h, 1, 1))
	}
	return r
}

func (r *lossyRaster) size() (width, height int) { return r.luma.width, r.luma.height }

func (r *lossyRaster) row(dst []byte, y, x0, x1 int) {
	upsampleWebP(r.chroma, r.cb, r.cr, y)
	webpRow(dst[:3*(x1-x0)], r.luma.line(y)[x0:x1], r.chroma[x0:x1])
	if r.alpha == nil {
		return
	}
	for i, a := range r.alpha.line(y)[x0:x1] {
		d := dst[3*i : 3*i+3]
		for c := range d {
			d[c] = blendWhite(uint32(d[c]), uint32(a))
		}
	}
}

// upsampleWebP is libwebp's UpsampleRgbLinePair (src/dsp/upsampling.c): the
// triangle filter (9, 3, 3, 1)/16, via two rounded diagonals.
func upsampleWebP(dst []uint32, cb, cr plane, y int) {
	b0, b1, r0, r1 := twoLines(cb, cr, y)
	n := len(b0)
	dst, b1, r0, r1 = dst[:2*n], b1[:n], r0[:n], r1[:n]
	left, leftFar := uint32(b0[0])|uint32(r0[0])<<16, uint32(b1[0])|uint32(r1[0])<<16
	dst[0] = (3*left + leftFar + 0x00020002) >> 2 & chromaMask
	for i := 1; i < n; i++ {
		this, thisFar := uint32(b0[i])|uint32(r0[i])<<16, uint32(b1[i])|uint32(r1[i])<<16
		sum := left + leftFar + this + thisFar + 0x00080008
		falling := (sum + 2*(this+leftFar)) >> 3 & chromaHigh
		rising := (sum + 2*(left+thisFar)) >> 3 & chromaHigh
		dst[2*i-1] = (falling + left) >> 1 & chromaMask
		dst[2*i] = (rising + this) >> 1 & chromaMask
		left, leftFar = this, thisFar
	}
	dst[2*n-1] = (3*left + leftFar + 0x00020002) >> 2 & chromaMask
}

// chromaHigh keeps the halves of a packed intermediate (at most 9 bits) apart.
const chromaHigh = 0x01ff01ff

// webpRow is libwebp's VP8YuvToRgb (src/dsp/yuv.h): limited-range BT.601 in
// 14-bit fixed point, with 6 bits left before clipping.
func webpRow(dst, luma []byte, chroma []uint32) {
	chroma = chroma[:len(luma)]
	for i, l := range luma {
		uv := chroma[i]
		y := int32(l) * 19077 >> 8
		u, v := int32(uv&0xff), int32(uv>>16)
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0] = clip8((y + v*26149>>8 - 14234) >> 6)
		d[1] = clip8((y - u*6419>>8 - v*13320>>8 + 8708) >> 6)
		d[2] = clip8((y + u*33050>>8 - 17685) >> 6)
	}
}
