package preprocess

import (
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"

	"golang.org/x/image/tiff"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// Errors about an image file. Every error of Decode, Tensor and Thumbnail that
// concerns the file wraps one of these.
var (
	// ErrEmpty means that the file has no bytes.
	ErrEmpty = errors.New("empty file")
	// ErrFormat means that the bytes are not an image, or are in an unsupported
	// format (JPEG XL, SVG, …); the message names it and says what to do.
	ErrFormat = errors.New("unsupported image format")
	// ErrTooLarge means that the file or the picture exceeds the Budget.
	ErrTooLarge = errors.New("image too large")
	// ErrTruncated means that the file ends before the picture does.
	ErrTruncated = errors.New("image file is cut short")
	// ErrCorrupt means that the data violates its format.
	ErrCorrupt = errors.New("image data is damaged")
)

// decodeError wraps a decoder's error in one of the errors above, with advice.
func decodeError(f format, err error) error {
	switch {
	case hasKind(err):
		return err
	case isTruncated(err):
		return fmt.Errorf("decode %s: %w: copy the file again from its source (%v)", f, ErrTruncated, err)
	case errors.Is(err, quota.ErrExceeded):
		return fmt.Errorf("decode %s: %w: its header describes more than a photo has; raise preprocess.memory or "+
			"convert it to JPEG", f, ErrTooLarge)
	case isTooLarge(err):
		return fmt.Errorf("decode %s: %w: scale the picture down (%v)", f, ErrTooLarge, err)
	case isUnsupported(err):
		return fmt.Errorf("decode %s: %w: this kind of %s cannot be decoded; convert it to baseline JPEG or PNG (%v)",
			f, ErrFormat, f, err)
	}
	return fmt.Errorf("decode %s: %w (%v)", f, ErrCorrupt, err)
}

func hasKind(err error) bool {
	kinds := []error{ErrEmpty, ErrFormat, ErrTooLarge, ErrTruncated, ErrCorrupt}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// isTruncated also checks the text, because image/gif and x/image do not wrap
// io.EOF.
func isTruncated(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "EOF") || strings.Contains(text, "not enough")
}

// isTooLarge recognises what decoders refuse before our checks.
func isTooLarge(err error) bool {
	text := err.Error()
	return strings.Contains(text, "dimension overflow") || strings.Contains(text, "image too large")
}

func isUnsupported(err error) bool {
	var j jpeg.UnsupportedError
	var p png.UnsupportedError
	var t tiff.UnsupportedError
	return errors.As(err, &j) || errors.As(err, &p) || errors.As(err, &t)
}

// guard turns a decoder's panic into an error. None of the decoders starts
// goroutines, so nothing escapes it.
func guard(f *format, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("decode %s: %w (decoder: %v)", *f, ErrCorrupt, r)
	}
}
