package preprocess

import "github.com/seed-90d10d51/pipeline/preprocess/photometa"

// metadata returns what a file says besides its pixels. HEIC and AVIF turn their
// pictures by boxes, which their decoders apply.
func metadata(file []byte, f format) photometa.Metadata {
	switch f {
	case formatJPEG:
		return photometa.JPEG(file)
	case formatPNG:
		return photometa.PNG(file)
	case formatTIFF:
		return photometa.TIFF(file)
	case formatWebP:
		return photometa.WebP(file)
	case formatGIF:
		return photometa.GIF(file)
	case formatRaw:
		return rawMetadata(file)
	}
	return photometa.Metadata{}
}

// orientation returns how a file says that its picture is to be turned, 1 … 8.
func orientation(file []byte, f format) int {
	m := metadata(file, f)
	return m.Orientation()
}

// Size returns the size of the upright picture in a file, from its header and without
// decoding. Errors are as for Decode.
func Size(file []byte, b *Budget) (width, height int, err error) {
	p, err := planFile(file, b, purpose{size: fullSize})
	if err != nil {
		return 0, 0, err
	}
	if orientation(file, p.format) >= 5 {
		return p.height, p.width, nil
	}
	return p.width, p.height, nil
}

// HeadSize is Size of a file of which only the beginning is given. It is enough for a JPEG
// file whose header it holds; otherwise ok is false.
func HeadSize(head []byte, b *Budget) (width, height int, ok bool) {
	if f, err := identify(head); err != nil || f != formatJPEG {
		return 0, 0, false
	}
	h, err := readJPEGHeader(head)
	if err != nil || b.checkSize(formatJPEG, h.width, h.height) != nil {
		return 0, 0, false
	}
	if orientation(head, formatJPEG) >= 5 {
		return h.height, h.width, true
	}
	return h.width, h.height, true
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
