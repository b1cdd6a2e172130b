package heif

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// EnvLibrary is the environment variable that names the library file.
const EnvLibrary = "LIBDE265_LIB"

// ErrNoLibrary reports that no usable library was found.
var ErrNoLibrary = errors.New("no usable libde265")

// Remedy tells users without a library what to do.
func Remedy() string {
	return sharedlib.Install("libde265-0", "libde265", "libde265") + "set " + EnvLibrary + " to its library file"
}

// newDecoder is a function that distinguishes libde265 from other libraries.
const newDecoder = "de265_new_decoder"

// leastVersion is 1.0.11, as a number of two hexadecimal digits each: earlier
// releases have published vulnerabilities.
const leastVersion = 0x01000b00

// A Library is libde265, a decoder of HEVC. It is safe for concurrent use and
// stays loaded for the life of the process.
type Library struct {
	path, version string

	getVersion    func() string
	getNumber     func() uint32
	newDecoder    func() uintptr
	freeDecoder   func(decoder uintptr) int32
	push          func(decoder uintptr, nal *byte, length int32, time int64, user uintptr) int32
	flush         func(decoder uintptr) int32
	decode        func(decoder uintptr, more *int32) int32
	next          func(decoder uintptr) uintptr
	errorText     func(code int32) string
	chroma        func(image uintptr) int32
	width, height func(image uintptr, channel int32) int32
	depth         func(image uintptr, channel int32) int32
	plane         func(image uintptr, channel int32, stride *int32) unsafe.Pointer
}

// Locate returns the path of the library to use: $LIBDE265_LIB, the executable's
// folder, the system's usual folders. If the variable is set but names no
// library, Locate fails. Nothing is loaded. Errors wrap ErrNoLibrary.
func Locate() (string, error) {
	s := sharedlib.Search{Name: "libde265", Functions: []string{newDecoder}, Env: EnvLibrary, NotFound: ErrNoLibrary,
		Remedy: Remedy()}
	path, _, err := s.Locate("", sharedlib.Places("", "libde265", "/opt/libde265/lib",
		"de265", "libde265.so.0"))
	return path, err
}

// Find locates the library and opens it.
func Find() (*Library, error) {
	path, err := Locate()
	if err != nil {
		return nil, err
	}
	return open(path)
}

// open loads a library.
func open(path string) (*Library, error) {
	l := &Library{path: path}
	if err := l.load(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoLibrary, path, err)
	}
	l.version = l.getVersion()
	if l.getNumber() < leastVersion {
		return nil, fmt.Errorf("%w: %s is version %s; 1.0.11 or later is needed", ErrNoLibrary, path, l.version)
	}
	return l, nil
}

// load resolves the functions.
func (l *Library) load() error {
	return sharedlib.Load(l.path, map[string]any{
		"de265_get_version":        &l.getVersion,
		"de265_get_version_number": &l.getNumber,
		newDecoder:                 &l.newDecoder,
		"de265_free_decoder":       &l.freeDecoder,
		"de265_push_NAL":           &l.push,
		"de265_flush_data":         &l.flush,
		"de265_decode":             &l.decode,
		"de265_get_next_picture":   &l.next,
		"de265_get_error_text":     &l.errorText,
		"de265_get_chroma_format":  &l.chroma,
		"de265_get_image_width":    &l.width,
		"de265_get_image_height":   &l.height,
		"de265_get_bits_per_pixel": &l.depth,
		"de265_get_image_plane":    &l.plane,
	}, nil)
}

// Path returns the path of the library.
func (l *Library) Path() string { return l.path }

// Version returns the version of the library, such as "1.0.11".
func (l *Library) Version() string { return l.version }

// tile decodes a coded picture in the calling thread.
func (l *Library) tile(ctx context.Context, c *coded) (*Planes, error) {
	decoder := l.newDecoder()
	if decoder == 0 {
		return nil, ErrMemory
	}
	defer l.freeDecoder(decoder)
	err := c.eachNAL(func(nal []byte) error {
		if len(nal) == 0 {
			return nil
		}
		return l.check(l.push(decoder, &nal[0], int32(len(nal)), 0, 0)) // copies it
	})
	if err != nil {
		return nil, err
	}
	if err := l.check(l.flush(decoder)); err != nil {
		return nil, err
	}
	for more := int32(1); more != 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more = 0
		if err := l.check(l.decode(decoder, &more)); err != nil {
			return nil, err
		}
		if image := l.next(decoder); image != 0 {
			return l.planes(image, c)
		}
	}
	return nil, damaged("HEVC data without a picture")
}

// check turns an error of the library into one of ours. From 1000 on codes are
// warnings.
func (l *Library) check(code int32) error {
	const outOfMemory, warnings = 7, 1000
	switch {
	case code == 0 || code >= warnings:
		return nil
	case code == outOfMemory:
		return ErrMemory
	}
	return damaged("libde265: %s", l.errorText(code))
}

// planes copies what was decoded.
func (l *Library) planes(image uintptr, c *coded) (*Planes, error) {
	out := newPlanes(c.width, c.height, int(l.chroma(image)))
	var err error
	if out.Y, err = l.copyPlane(image, 0, c.width, c.height); err != nil || l.chroma(image) == 0 {
		return out, err
	}
	w, h := out.chromaSize()
	if out.Cb, err = l.copyPlane(image, 1, w, h); err != nil {
		return nil, err
	}
	out.Cr, err = l.copyPlane(image, 2, w, h)
	return out, err
}

func (l *Library) copyPlane(image uintptr, channel int32, width, height int) ([]byte, error) {
	var stride int32
	data := l.plane(image, channel, &stride)
	depth := int(l.depth(image, channel))
	bytes := (depth + 7) / 8
	if data == nil || depth < 8 || depth > 16 || int(l.width(image, channel)) != width ||
		int(l.height(image, channel)) != height || int(stride) < bytes*width {
		return nil, damaged("a channel of other size than announced")
	}
	n := (height-1)*int(stride) + bytes*width
	return pack(unsafe.Slice((*byte)(data), n), int(stride), width, height, depth), nil
}
