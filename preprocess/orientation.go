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

// reorient returns the upright picture for an EXIF orientation, reusing buf if
// it is big enough; buf must not be img's own memory.
func reorient(img *Image, orientation int, buf []byte) *Image {
	if orientation <= 1 || orientation > 8 {
		return img
	}
	out := &Image{Width: img.Width, Height: img.Height}
	if orientation >= 5 {
		out.Width, out.Height = img.Height, img.Width
	}
	out.Pix = grow(buf, len(img.Pix))
	origin, stepX, stepY := walk(orientation, img.Width, img.Height)
	turn(out, img.Pix, origin, stepX, stepY)
	return out
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

func turn(out *Image, pix []byte, origin, stepX, stepY int) {
	for y0 := 0; y0 < out.Height; y0 += turnBlock {
		for x0 := 0; x0 < out.Width; x0 += turnBlock {
			y1, x1 := min(y0+turnBlock, out.Height), min(x0+turnBlock, out.Width)
			for y := y0; y < y1; y++ {
				from := 3 * (origin + y*stepY + x0*stepX)
				dst := out.Pix[3*(y*out.Width+x0) : 3*(y*out.Width+x1)]
				copyPixels(dst, pix, from, 3*stepX)
			}
		}
	}
}

func copyPixels(dst, pix []byte, from, step int) {
	for len(dst) >= 3 {
		p := pix[from : from+3 : from+3]
		dst[0], dst[1], dst[2] = p[0], p[1], p[2]
		dst = dst[3:]
		from += step
	}
}
