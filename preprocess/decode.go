package preprocess

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
)

// An Image is an 8-bit RGB picture, rows tightly packed from the top:
// channel c of pixel (x, y) is Pix[3*(y*Width+x)+c].
type Image struct {
	Width, Height int
	Pix           []byte
}

func (m *Image) size() (width, height int) { return m.Width, m.Height }

func (m *Image) row(dst []byte, y, x0, x1 int) {
	copy(dst, m.Pix[3*(y*m.Width+x0):3*(y*m.Width+x1)])
}

func (m *Image) check() error {
	if m.Width < 1 || m.Height < 1 || len(m.Pix)/3/m.Width != m.Height || len(m.Pix)%(3*m.Width) != 0 {
		return fmt.Errorf("preprocess: image of %d×%d pixels with %d bytes: it takes 3·width·height", m.Width, m.Height, len(m.Pix))
	}
	return nil
}

// Decode returns the picture of an image file as 8-bit RGB, equal to Pillow's
// (the package comment describes how closely, and the treatment of alpha and 16
// bits). With orient it applies the EXIF orientation. The error wraps one of
// ErrEmpty, ErrFormat, ErrTooLarge, ErrTruncated, ErrCorrupt.
func Decode(file []byte, lim Limits, orient bool) (img *Image, err error) {
	f := formatUnknown
	defer guard(&f, &err)
	r, f, err := open(file, lim)
	if err != nil {
		return nil, err
	}
	img = flatten(r, nil)
	if orient {
		img = reorient(img, orientation(file, f), nil)
	}
	return img, nil
}

// flatten copies a raster into one picture, reusing buf if it is big enough.
func flatten(r raster, buf []byte) *Image {
	w, h := r.size()
	img := &Image{Width: w, Height: h, Pix: grow(buf, 3*w*h)}
	for y := range h {
		r.row(img.Pix[3*w*y:3*w*(y+1)], y, 0, w)
	}
	return img
}

// grow returns a slice of length n, reusing buf if it is big enough.
func grow[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// open checks limits and decodes a file, except for the conversion to RGB.
func open(file []byte, lim Limits) (r raster, f format, err error) {
	f = formatUnknown
	defer guard(&f, &err)
	if err = lim.checkBytes(file); err != nil {
		return nil, f, err
	}
	if f, err = identify(file); err != nil {
		return nil, f, err
	}
	if r, err = opener(f)(file, lim); err != nil {
		return nil, f, decodeError(f, err)
	}
	return r, f, nil
}

func opener(f format) func(file []byte, lim Limits) (raster, error) {
	switch f {
	case formatJPEG:
		return openJPEG
	case formatWebP:
		return openWebP
	case formatGIF:
		return openGIF
	case formatPNG:
		return standard(f, png.DecodeConfig, png.Decode)
	case formatBMP:
		return standard(f, bmp.DecodeConfig, bmp.Decode)
	default:
		return openTIFF
	}
}

// standard returns the open function of a format whose decoder returns the
// whole picture.
func standard(f format, config func(io.Reader) (image.Config, error), decode func(io.Reader) (image.Image, error)) func([]byte, Limits) (raster, error) {
	return func(file []byte, lim Limits) (raster, error) {
		c, err := config(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		if err := lim.checkPixels(f, c.Width, c.Height); err != nil {
			return nil, err
		}
		m, err := decode(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		return newRaster(m)
	}
}

// openGIF places the first frame on the canvas. gif.Decode stops after one
// frame, and checks that a frame lies within the canvas.
func openGIF(file []byte, lim Limits) (raster, error) {
	c, err := gif.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if err := lim.checkPixels(formatGIF, c.Width, c.Height); err != nil {
		return nil, err
	}
	m, err := gif.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	frame, err := newRaster(m)
	if err != nil {
		return nil, err
	}
	at := m.Bounds().Min
	return &canvas{
		width: c.Width, height: c.Height, x: at.X, y: at.Y,
		background: gifBackground(m), frame: frame,
	}, nil
}

// gifBackground returns what Pillow fills the canvas with: white (transparency
// over white) if the frame has a transparent colour, otherwise colour 0.
func gifBackground(m image.Image) [3]byte {
	p, ok := m.(*image.Paletted)
	if !ok || len(p.Palette) == 0 {
		return [3]byte{255, 255, 255}
	}
	for _, c := range p.Palette {
		if straight(c).A == 0 {
			return [3]byte{255, 255, 255}
		}
	}
	return paletteTable(p.Palette)[0]
}
