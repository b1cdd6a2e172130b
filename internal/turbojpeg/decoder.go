package turbojpeg

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// decompress is a function that distinguishes TurboJPEG from other libraries.
const decompress = "tjDecompress2"

// Constants of turbojpeg.h.
const (
	formatRGB       = 0
	flagAccurateDCT = 4096
	flagLimitScans  = 32768 // to 500

	paramScanLimit = 13
	paramMaxMemory = 23 // MiB
)

// ErrDecode reports that the library did not decode a file cleanly.
var ErrDecode = errors.New("libjpeg-turbo cannot decode it")

// A Decoder is a loaded library. It is safe for concurrent use and stays loaded
// for the life of the process.
type Decoder struct {
	path    string
	id      string
	open    func() uintptr
	destroy func(handle uintptr) int32
	set     func(handle uintptr, param, value int32) int32 // nil before version 3
	decode  func(handle uintptr, file *byte, size uint, dst *byte, width, pitch, height, format, flags int32) int32
}

// Open loads the library and tests it.
func Open(path string) (*Decoder, error) {
	d := &Decoder{path: path}
	functions := map[string]any{"tjInitDecompress": &d.open, "tjDestroy": &d.destroy, decompress: &d.decode}
	if err := sharedlib.Load(path, functions, map[string]any{"tj3Set": &d.set}); err != nil {
		return nil, fmt.Errorf("TurboJPEG library %s: %w", path, err)
	}
	var err error
	if d.id, err = d.probe(); err != nil {
		return nil, fmt.Errorf("TurboJPEG library %s: %w", path, err)
	}
	return d, nil
}

// Path returns the path of the library.
func (d *Decoder) Path() string { return d.path }

// ID returns eight hex digits of a hash of the pixels that the library decodes.
func (d *Decoder) ID() string { return d.id }

// scaled returns a side length at 1/by of its size.
func scaled(side, by int) int { return (side + by - 1) / by }

// Decode decodes a file of width×height pixels at 1/by of its size (by is 1, 2,
// 4 or 8) into dst, 8-bit RGB without gaps, with the accurate inverse DCT and
// smooth chroma, as Pillow does. The file must be grey or YCbCr. Warnings count
// as errors. Errors wrap ErrDecode.
//
// The library refuses more scans and more memory in bytes from version 3 (memory:
// 3.1); version 2.1 refuses more than 500 scans.
func (d *Decoder) Decode(dst, file []byte, width, height, by, scans int, memory int64) error {
	if len(file) == 0 || width < 1 || height < 1 || (by != 1 && by != 2 && by != 4 && by != 8) {
		return fmt.Errorf("%w: %d bytes, %d×%d pixels at 1/%d", ErrDecode, len(file), width, height, by)
	}
	w, h := scaled(width, by), scaled(height, by)
	const most = 1<<31 - 1
	if w > most/3 || h > most || len(dst) != 3*w*h {
		return fmt.Errorf("%w: %d bytes for a picture of %d×%d", ErrDecode, len(dst), w, h)
	}
	handle := d.open()
	if handle == 0 {
		return fmt.Errorf("%w: out of memory", ErrDecode)
	}
	defer d.destroy(handle)
	if d.decode(handle, &file[0], uint(len(file)), &dst[0], int32(w), int32(3*w), int32(h), formatRGB,
		d.limit(handle, scans, memory)) != 0 {
		return ErrDecode
	}
	return nil
}

// limit sets the limits and returns the flags for decoding.
func (d *Decoder) limit(handle uintptr, scans int, memory int64) (flags int32) {
	if d.set == nil {
		return flagAccurateDCT | flagLimitScans
	}
	d.set(handle, paramScanLimit, int32(scans))
	d.set(handle, paramMaxMemory, int32(min(memory>>20+1, math.MaxInt32)))
	return flagAccurateDCT
}

// probe decodes a picture with edges, gradients and odd sides at every scale.
func (d *Decoder) probe() (string, error) {
	const width, height = 77, 61
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetRGBA(x, y, color.RGBA{uint8(3*x + y*y), uint8(4*y ^ 3*x), uint8(255 * (x / 9 % 2)), 255})
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, &jpeg.Options{Quality: 85}); err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, by := range []int{1, 2, 4, 8} {
		dst := make([]byte, 3*scaled(width, by)*scaled(height, by))
		if err := d.Decode(dst, file.Bytes(), width, height, by, 1, 1<<20); err != nil {
			return "", fmt.Errorf("test it at 1/%d: %w", by, err)
		}
		sum.Write(dst)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4]), nil
}
