package preprocess

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/photometa"
)

// A JPEGDecoder decodes JPEG files at full or reduced size; it is safe for
// concurrent use. internal/turbojpeg has the only implementation.
type JPEGDecoder interface {
	// ID identifies the decoder's output: decoders with the same ID produce the
	// same pixels.
	ID() string
	// Decode writes the picture of a file of width×height pixels, one channel
	// or YCbCr, at 1/by of its size (sides rounded up; by is 1, 2, 4 or 8) to
	// dst, as packed RGB. Any irregularity in the file is an error, and, where
	// the decoder can tell, more scans or memory in bytes than given.
	Decode(dst, file []byte, width, height, by, scans int, memory int64) error
}

// ErrNoDecoder means that a spec names a JPEG decoder that was not provided.
var ErrNoDecoder = errors.New("the JPEG decoder is not available")

// turboPrefix starts Spec.JPEG if libjpeg-turbo is used; the decoder's ID
// follows.
const turboPrefix = "turbo:"

// TurboJPEG returns the Spec.JPEG of a decoder.
func TurboJPEG(d JPEGDecoder) string { return turboPrefix + d.ID() }

// Decoder names the JPEG decoder for messages.
func (s Spec) Decoder() string {
	if id, ok := strings.CutPrefix(s.JPEG, turboPrefix); ok {
		return "libjpeg-turbo (" + id + ")"
	}
	return "Go's"
}

func (s Spec) checkJPEG() error {
	id, prefixed := strings.CutPrefix(s.JPEG, turboPrefix)
	if _, err := hex.DecodeString(id); s.JPEG != "" && (!prefixed || len(id) != 8 || err != nil) {
		return fieldError("jpeg", fmt.Sprintf("%q", s.JPEG),
			`"" (Go's decoder) or "turbo:" and the decoder's 8 hex digits`)
	}
	return nil
}

// Scaled decoding is used if the shorter side is at least scaleFrom times its
// resized length, and leaves at least scaleKeep times that length for the
// resize.
const (
	scaleFrom = 4
	scaleKeep = 2
)

// reduction returns the divisor for scaled decoding, 1, 2, 4 or 8, if the
// shorter side is resized to size.
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

// planNative plans the native decoder for a resize of the shorter side to size.
// False leaves the file to the Go decoders, which also report what is wrong
// with it.
func (p *Preprocessor) planNative(file []byte, size int) (plan, bool) {
	if p.jpeg == nil || len(file) == 0 {
		return plan{}, false
	}
	if f, err := identify(file); err != nil || f != formatJPEG {
		return plan{}, false
	}
	h, err := readJPEGHeader(file)
	if err != nil || p.budget.checkSize(formatJPEG, h.width, h.height) != nil || !h.plain() {
		return plan{}, false
	}
	if complete, err := checkScans(file, h.firstScan); err != nil || !complete {
		return plan{}, false
	}
	n := plan{format: formatJPEG, width: h.width, height: h.height, by: reduction(size, h.width, h.height)}
	w, ht := n.size()
	memory := fixedBytes + h.nativeBytes()
	n.bytes = memory + 3*pixels(w, ht)
	n.open = func(ctx context.Context) (raster, error) { // the decoder itself cannot be stopped
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := &Image{Width: w, Height: ht, Pix: make([]byte, 3*w*ht)}
		return m, p.jpeg.Decode(m.Pix, file, h.width, h.height, n.by, maxScans, memory)
	}
	n.open = inSRGB(n.open, photometa.JPEG(file).ICC)
	return n, true
}

// plain reports whether a file is grey or YCbCr, the channels that all decoders
// interpret alike.
func (h *jpegHeader) plain() bool {
	return len(h.components) == 1 || len(h.components) == 3 && !h.isRGB()
}
