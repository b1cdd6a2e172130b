package preprocess

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// A JPEGDecoder decodes JPEG files at full size or less; it is safe for
// concurrent use. internal/turbojpeg has the one that there is.
type JPEGDecoder interface {
	// ID names what it makes of files: decoders with the same ID make the same
	// pixels.
	ID() string
	// Decode writes the picture of a file of width×height pixels, one channel or
	// YCbCr, at 1/by of its size (sides rounded up; by is 1, 2, 4 or 8) to dst, as
	// RGB without gaps. Anything odd about the file is an error.
	Decode(dst, file []byte, width, height, by int) error
}

// ErrNoDecoder says that a spec names a JPEG decoder that was not given.
var ErrNoDecoder = errors.New("the JPEG decoder is not here")

// turboPrefix begins Spec.JPEG where libjpeg-turbo is used; the decoder's ID
// follows.
const turboPrefix = "turbo:"

// TurboJPEG is the Spec.JPEG of a decoder.
func TurboJPEG(d JPEGDecoder) string { return turboPrefix + d.ID() }

func (s Spec) checkJPEG() error {
	id, prefixed := strings.CutPrefix(s.JPEG, turboPrefix)
	if _, err := hex.DecodeString(id); s.JPEG != "" && (!prefixed || len(id) != 8 || err != nil) {
		return fieldError("jpeg", fmt.Sprintf("%q", s.JPEG), `"" (Go's decoder) or "turbo:" and the decoder's 8 hex digits`)
	}
	return nil
}

// Scaled decoding begins where the shorter side is scaleFrom times what it is
// resized to, and leaves scaleKeep times that or more for the resize.
const (
	scaleFrom = 4
	scaleKeep = 2
)

// reduction is the divisor for scaled decoding where the shorter side is to
// become size: 1, 2, 4 or 8.
func reduction(size, width, height int) int {
	short := min(width, height)
	if short < scaleFrom*size {
		return 1
	}
	by := 1
	for by < 8 && short/(2*by) >= scaleKeep*size {
		by *= 2
	}
	return by
}

// openNative decodes what the native decoder is good at, for a resize of the
// shorter side to size; false leaves the file
// to the decoders in Go, which then say what is wrong with it.
func (p *Preprocessor) openNative(file []byte, size int) (*Image, bool) {
	if p.jpeg == nil {
		return nil, false
	}
	if p.lim.checkBytes(file) != nil {
		return nil, false
	}
	if f, err := identify(file); err != nil || f != formatJPEG {
		return nil, false
	}
	h, err := readJPEGHeader(file)
	if err != nil || p.lim.checkPixels(formatJPEG, h.width, h.height) != nil || !h.plain() {
		return nil, false
	}
	if complete, err := checkScans(file, h.firstScan); err != nil || !complete {
		return nil, false
	}
	by := reduction(size, h.width, h.height)
	m := &Image{Width: (h.width + by - 1) / by, Height: (h.height + by - 1) / by}
	m.Pix = make([]byte, 3*m.Width*m.Height)
	if p.jpeg.Decode(m.Pix, file, h.width, h.height, by) != nil {
		return nil, false
	}
	return m, true
}

// plain says that a file is grey or YCbCr: the channels for which all decoders
// agree what they mean.
func (h *jpegHeader) plain() bool {
	return len(h.components) == 1 || len(h.components) == 3 && !h.isRGB()
}
