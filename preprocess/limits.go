package preprocess

import "fmt"

// Limits protect memory and time; they are checked before decoding.
type Limits struct {
	// MaxPixels bounds width·height as stated by the header.
	MaxPixels int64
	// MaxBytes bounds the size of the file.
	MaxBytes int64
}

// DefaultLimits returns limits of 128 Mi pixels (any camera or phone) and 256
// MiB.
func DefaultLimits() Limits {
	return Limits{MaxPixels: 128 << 20, MaxBytes: 256 << 20}
}

// Validate returns an error that names the first limit that is not positive.
func (l Limits) Validate() error {
	if l.MaxPixels < 1 {
		return fmt.Errorf("preprocess: limit MaxPixels is %d: allowed is 1 or more", l.MaxPixels)
	}
	if l.MaxBytes < 1 {
		return fmt.Errorf("preprocess: limit MaxBytes is %d: allowed is 1 or more", l.MaxBytes)
	}
	return nil
}

func (l Limits) checkBytes(file []byte) error {
	if len(file) == 0 {
		return fmt.Errorf("read image: %w (0 bytes)", ErrEmpty)
	}
	if n := int64(len(file)); n > l.MaxBytes {
		return fmt.Errorf("read image: %w: %d bytes, the limit is %d; raise the limit or make the file smaller", ErrTooLarge, n, l.MaxBytes)
	}
	return nil
}

// checkPixels divides instead of multiplying, to avoid overflow.
func (l Limits) checkPixels(f format, width, height int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("decode %s: %w: the header says %d×%d pixels", f, ErrCorrupt, width, height)
	}
	if int64(width) > l.MaxPixels/int64(height) {
		return fmt.Errorf("decode %s: %w: %d×%d pixels, the limit is %d; raise the limit or scale the picture down", f, ErrTooLarge, width, height, l.MaxPixels)
	}
	return nil
}
