package preprocess

import (
	"bytes"
	"context"
	"image"
	"io"
	"slices"
)

// salvageBytes is what salvage takes. A frame of which less than a third is there has too
// few rows.
func (f *webpFrame) salvageBytes(c image.Config) (int64, error) {
	const share = 3
	if f.missing > (share-1)*int64(len(f.data)) {
		return 0, io.ErrUnexpectedEOF
	}
	return 2*(f.bytes(c)+8*f.padding(c)) + f.padding(c), nil
}

// padding is how many bytes take the place of those missing: more, as meaningless ones may
// stand for larger coefficients.
func (f *webpFrame) padding(c image.Config) int64 { return f.missing + 2*pixels(c.Width, c.Height) }

// salvage decodes a frame that is cut, with two different fillings in place of what is
// missing. The rows before the first that differs are the picture's; the others are grey.
func (f *webpFrame) salvage(ctx context.Context, c image.Config) (raster, error) {
	var decoded [2]raster
	for i, fill := range []byte{0, 0xa5} {
		padded := *f
		padded.data = slices.Concat(f.data, bytes.Repeat([]byte{fill}, int(f.padding(c))))
		var err error
		if decoded[i], err = padded.decode(ctx, c); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
	}
	good := 0
	for rows := [2][]byte{make([]byte, 3*c.Width), make([]byte, 3*c.Width)}; good < c.Height; good++ {
		for i, r := range decoded {
			r.row(rows[i], good, 0, c.Width)
		}
		if !bytes.Equal(rows[0], rows[1]) {
			break
		}
	}
	if err := incomplete(ctx, int64(good), int64(c.Height)); err != nil {
		return nil, err
	}
	return &canvas{width: c.Width, height: c.Height, background: [3]byte{128, 128, 128},
		frame: &window{inner: decoded[0], w: c.Width, h: good}}, nil
}
