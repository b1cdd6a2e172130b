package preprocess

import (
	"bytes"
	"strings"

	"github.com/bep/imagemeta"
)

// orientation returns the EXIF orientation 1 … 8 of IFD0, or 1 if it is missing
// or unreadable: broken metadata is no reason to refuse a picture.
func orientation(file []byte, f format) (value int) {
	value = 1
	file, kind := metadata(file, f)
	if file == nil {
		return value
	}
	defer func() {
		if recover() != nil {
			value = 1
		}
	}()
	isOrientation := func(t imagemeta.TagInfo) bool {
		return t.Tag == "Orientation" && strings.HasPrefix(t.Namespace, "IFD0")
	}
	_, _ = imagemeta.Decode(imagemeta.Options{
		R:               bytes.NewReader(file),
		ImageFormat:     kind,
		Sources:         imagemeta.EXIF,
		ShouldHandleTag: isOrientation,
		HandleTag: func(t imagemeta.TagInfo) error {
			value = orientationValue(t.Value)
			return imagemeta.ErrStopWalking
		},
	})
	return value
}

// metadata returns the bytes and the format to pass to imagemeta, or nil. For
// WebP it finds the chunk, which holds a TIFF file, itself: imagemeta 1.0.1
// misreads the file after a chunk of odd length.
func metadata(file []byte, f format) ([]byte, imagemeta.ImageFormat) {
	switch f {
	case formatJPEG:
		return file, imagemeta.JPEG
	case formatPNG:
		return file, imagemeta.PNG
	case formatTIFF:
		return file, imagemeta.TIFF
	case formatWebP:
		return webpExif(file), imagemeta.TIFF
	}
	return nil, 0
}

func orientationValue(v any) int {
	var n int
	switch v := v.(type) {
	case uint8:
		n = int(v)
	case uint16:
		n = int(v)
	case uint32:
		n = int(v)
	}
	if n < 1 || n > 8 {
		return 1
	}
	return n
}

// upright returns the picture with an EXIF orientation applied.
func upright(r raster, orientation int) *Image {
	w, h := r.size()
	out := &Image{Width: w, Height: h, Pix: make([]byte, 3*w*h)}
	if orientation <= 1 || orientation > 8 {
		for y := range h {
			r.row(out.Pix[3*w*y:3*w*(y+1)], y, 0, w)
		}
		return out
	}
	if orientation >= 5 {
		out.Width, out.Height = h, w
	}
	turn(out, r, orientation)
	return out
}

// uprightBytes is what upright allocates.
func uprightBytes(width, height int) int64 {
	return 3*pixels(width, height) + 3*turnBlock*int64(width)
}

// walk returns the input position of output pixel (0, 0) and the input
// distances, in pixels, of its neighbours across and down (EXIF 2.3, tag 274).
func walk(orientation, w, h int) (origin, stepX, stepY int) {
	last := w*h - 1
	switch orientation {
	case 2:
		return w - 1, -1, w
	case 3:
		return last, -1, -w
	case 4:
		return last - (w - 1), 1, -w
	case 5:
		return 0, w, 1
	case 6:
		return last - (w - 1), -w, 1
	case 7:
		return last, -w, -1
	case 8:
		return w - 1, w, -1
	}
	return 0, 1, w
}

// turnBlock is the side of the squares that turn works in, so that a
// transposition stays in the cache.
const turnBlock = 32

// turn writes r to out, a strip of rows at a time. The position of a stored
// pixel in the upright picture is a walk by the inverse orientation.
func turn(out *Image, r raster, orientation int) {
	switch orientation {
	case 6:
		orientation = 8
	case 8:
		orientation = 6
	}
	origin, stepX, stepY := walk(orientation, out.Width, out.Height)
	w, h := r.size()
	strip := make([]byte, 3*w*min(turnBlock, h))
	for y0 := 0; y0 < h; y0 += turnBlock {
		rows := min(turnBlock, h-y0)
		for y := range rows {
			r.row(strip[3*w*y:3*w*(y+1)], y0+y, 0, w)
		}
		for x0 := 0; x0 < w; x0 += turnBlock {
			x1 := min(x0+turnBlock, w)
			for y := range rows {
				to := 3 * (origin + (y0+y)*stepY + x0*stepX)
				scatter(out.Pix, to, 3*stepX, strip[3*(w*y+x0):3*(w*y+x1)])
			}
		}
	}
}

func scatter(dst []byte, to, step int, pixels []byte) {
	for len(pixels) >= 3 {
		d := dst[to : to+3 : to+3]
		d[0], d[1], d[2] = pixels[0], pixels[1], pixels[2]
		pixels = pixels[3:]
		to += step
	}
}
