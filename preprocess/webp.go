package preprocess

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// A webpFrame is the first frame's chunks, and the canvas.
type webpFrame struct {
	canvasWidth, canvasHeight int
	data                      []byte
	missing                   int64 // bytes of data beyond the end of the file
	lossless                  bool
}

// planWebP plans the first frame. The size is checked here, as libwebp does not say what is wrong.
func (d *Decoders) planWebP(file []byte, b *Budget) (p plan, err error) {
	f, err := readWebP(file[12:])
	if err != nil {
		return p, err
	}
	if err := f.check(b); err != nil {
		return p, err
	}
	if w, h := f.size(); webpPixel*pixels(w, h) > b.bytes {
		return p, b.tooLarge(formatWebP, w, h, webpPixel*pixels(w, h))
	}
	if f.missing > 0 {
		return f.planCut(d, file, b)
	}
	v, err := d.readNative(formatWebP, file, b, ",fail-on=error")
	if err != nil {
		return p, err
	}
	return f.plan(v, len(file))
}

// webpPixel is the bytes that libwebp takes for a pixel.
const webpPixel = 12

// plan estimates what libwebp takes: copies of the pixels and, of a lossless picture, Huffman trees. Encoders
// make 2600 groups of them at most, for squares of 4 pixels at least.
func (f *webpFrame) plan(v *native, data int) (plan, error) {
	const groups, perGroup = 2600, 16_000
	p, err := v.plan(webpPixel, 64)
	if f.lossless {
		p.bytes += perGroup * min(groups, pixels((v.Width+3)/4, (v.Height+3)/4), int64(data)/2+1)
	}
	return p, err
}

// size reads the size of the frame from its data (RFC 9649, 2.5 and 2.6).
func (f *webpFrame) size() (width, height int) {
	const lossyHead, losslessHead, side = 10, 5, 1<<14 - 1
	switch {
	case f.lossless && len(f.data) >= losslessHead:
		v := int(binary.LittleEndian.Uint32(f.data[1:]))
		return v&side + 1, v>>14&side + 1
	case !f.lossless && len(f.data) >= lossyHead:
		return int(binary.LittleEndian.Uint16(f.data[6:])) & side, int(binary.LittleEndian.Uint16(f.data[8:])) & side
	}
	return 0, 0
}

// check checks the size of frame and canvas.
func (f *webpFrame) check(b *Budget) error {
	w, h := f.size()
	if w == 0 && f.missing > 0 {
		return io.ErrUnexpectedEOF
	}
	if err := b.checkSize(formatWebP, w, h); err != nil || f.canvasWidth == 0 {
		return err
	}
	return b.checkSize(formatWebP, f.canvasWidth, f.canvasHeight)
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
	return eachChunk(body[16:], f.take)
}

func (f *webpFrame) take(id string, body []byte, missing int64) (done bool, err error) {
	if id != "VP8 " && id != "VP8L" {
		return false, nil
	}
	f.data, f.missing, f.lossless = body, missing, id == "VP8L"
	return true, nil
}

// planCut plans a frame that is cut, if more than a third of it is there. It is decoded with two different
// fillings in place of what is missing: the rows before the first that differs are the picture's, and
// the others are grey.
func (f *webpFrame) planCut(d *Decoders, file []byte, b *Budget) (p plan, err error) {
	const share = 3
	if f.missing > (share-1)*int64(len(f.data)) {
		return p, io.ErrUnexpectedEOF
	}
	v, err := d.readNative(formatWebP, f.filled(0), b, ",fail-on=error")
	if err != nil {
		return p, io.ErrUnexpectedEOF
	}
	if p, err = f.plan(v, len(file)); err != nil {
		return p, err
	}
	p.bytes = 2*p.bytes + 2*int64(len(v.source.File))
	p.open = func(ctx context.Context) (raster, error) {
		whole, _, err := v.read(ctx)
		if err != nil {
			return nil, err
		}
		v.source.File = f.filled(0xa5)
		other, _, err := v.read(ctx)
		if err != nil {
			return nil, err
		}
		good, row := 0, whole.RowBytes()
		for good < v.Height && bytes.Equal(whole.pix[good*row:(good+1)*row], other.pix[good*row:(good+1)*row]) {
			good++
		}
		if err := incomplete(ctx, int64(good), int64(v.Height)); err != nil {
			return nil, err
		}
		whole.Height = good
		r, err := whole.picture(ctx)
		return &canvas{width: v.Width, height: v.Height, background: [3]byte{128, 128, 128}, frame: r}, err
	}
	return p, nil
}

// filled returns a plain file with the frame, in which a byte takes the place of those missing: there are more, as
// meaningless ones may stand for larger coefficients.
func (f *webpFrame) filled(fill byte) []byte {
	w, h := f.size()
	data := slices.Concat(f.data, bytes.Repeat([]byte{fill}, int(f.missing+2*pixels(w, h))))
	kind := "VP8 "
	if f.lossless {
		kind = "VP8L"
	}
	data = data[:len(data)&^1]
	b := fmt.Appendf(nil, "RIFF....WEBP%s....", kind)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(data)+12))
	binary.LittleEndian.PutUint32(b[16:], uint32(len(data)))
	return append(b, data...)
}
