package vips

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// ErrDecode reports that a file cannot be decoded, or only in part.
var ErrDecode = errors.New("libvips cannot decode it")

// Formats of samples (VipsBandFormat).
const (
	Bytes  = 0
	Words  = 2 // of 16 bits
	Floats = 6 // of 32 bits
)

// Colour spaces (VipsInterpretation) that have a meaning here.
const (
	SpaceMultiband = 0
	SpaceGrey      = 1
	SpaceLab       = 13
	SpaceLabPacked = 16 // in four bytes
	SpaceLabShort  = 21 // in numbers of 16 bits
	SpaceCMYK      = 15
	SpaceSRGB      = 22
	SpaceRGB16     = 25
	SpaceGrey16    = 26
	SpaceSCRGB     = 28
)

// A Source is a file and how it is to be read.
type Source struct {
	File []byte
	// Loader is the name of the operation, such as "jpegload_buffer", and Options are its, such as
	// "shrink=2,fail-on=warning".
	Loader, Options string
	// Then names an operation that turns the picture into another, with its options, such
	// as "colourspace" and "space=srgb"; "" means none.
	Then, ThenOptions string
	// Watched asks whether the decoder warns of something.
	Watched bool
}

// A Header is what is known of a picture before it is decoded.
type Header struct {
	Width, Height, Bands int
	Format, Space        int
	Profile              []byte // ICC, nil if there is none
}

// SampleBytes returns the size of a sample, 0 if it is of no known format.
func (h Header) SampleBytes() int {
	switch h.Format {
	case Bytes:
		return 1
	case Words:
		return 2
	case Floats:
		return 4
	}
	return 0
}

// RowBytes returns the size of a row.
func (h Header) RowBytes() int { return h.Width * h.Bands * h.SampleBytes() }

// Header returns what a file says about its picture. Errors wrap ErrDecode.
func (l *Library) Header(s Source) (h Header, err error) {
	_, err = l.attempt(false, func() error {
		return l.opened(s, func(image uintptr) error {
			h = l.header(image)
			return nil
		})
	})
	return h, err
}

// A Result says how much of a picture was read.
type Result struct {
	Rows int // from the top
	// Warned reports that the decoder found something wrong.
	Warned bool
}

// CanTransform reports whether the profile of a picture can be applied.
func (l *Library) CanTransform(s Source) bool {
	s.Then, s.ThenOptions = "icc_transform", "output-profile=srgb,embedded=true"
	_, err := l.Header(s)
	return err == nil
}

// Rows decodes a picture and calls use for all its rows, some at a time: they are those
// from y on, packed, and valid until use returns. It ends early if the picture is damaged, which is no error,
// with ctx, and with an error of use, which may be called with the same rows again. Other
// errors wrap ErrDecode.
func (l *Library) Rows(ctx context.Context, s Source, begin func(h Header) error,
	use func(y int, rows []byte)) (r Result, err error) {
	bytes := BytesAtOnce
	r.Warned, err = l.attempt(s.Watched, func() error {
		return l.opened(s, func(image uintptr) error {
			h := l.header(image)
			if err := begin(h); err != nil {
				return err
			}
			r.Rows, err = l.rows(ctx, image, h, h.rowsOf(bytes), use)
			bytes = 0 // the second time find out where the damage is
			return err
		})
	})
	if errors.Is(err, errRows) {
		err = nil
	}
	return r, err
}

// errRows reports that a picture ends early.
var errRows = fmt.Errorf("%w to its end", ErrDecode)

// attempt calls f, and once more by itself if that fails or, watched, leaves a message.
func (l *Library) attempt(watched bool, f func() error) (warned bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.endThread() // frees what the library keeps for this thread
	if watched && l.hasMessage() {
		l.forget()
	}
	l.order.RLock()
	err = f()
	warned = watched && l.hasMessage()
	l.order.RUnlock()
	if !warned && !errors.Is(err, ErrDecode) {
		return false, err
	}
	l.order.Lock()
	defer l.order.Unlock()
	l.clearMessage()
	err = f()
	message := l.takeMessage()
	if errors.Is(err, ErrDecode) && !errors.Is(err, errRows) {
		err = fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(message), " "))
	}
	return message != "", err
}

// forget clears what pictures that nobody watched have left.
func (l *Library) forget() {
	l.order.Lock()
	defer l.order.Unlock()
	l.clearMessage()
}

// opened calls use with the picture of a file, of which only the header has been read.
func (l *Library) opened(s Source, use func(image uintptr) error) error {
	if len(s.File) == 0 {
		return ErrDecode
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&s.File[0])
	blob := l.newBlob(0, unsafe.Pointer(&s.File[0]), uintptr(len(s.File)))
	defer l.unrefBlob(blob)
	return l.run(s.Loader, s.Options, func(v *value) string {
		l.initValue(v, l.blobType)
		l.setBoxed(v, blob)
		return "buffer"
	}, func(image uintptr) error {
		if s.Then == "" {
			return use(image)
		}
		return l.run(s.Then, s.ThenOptions, func(v *value) string {
			l.initValue(v, l.imageType)
			l.setObject(v, image)
			return "in"
		}, use)
	})
}

// run builds an operation and calls use with its picture. input sets a value and returns the
// name of the argument that it is for.
func (l *Library) run(name, options string, input func(v *value) string, use func(image uintptr) error) error {
	operation := l.newOperation(name)
	if operation == 0 {
		return ErrDecode
	}
	var in, out value
	l.setProperty(operation, input(&in), &in)
	l.unsetValue(&in)
	defer func() {
		l.unrefOutputs(operation)
		l.unref(operation)
	}()
	if l.setOptions(operation, options) != 0 || l.build(operation) != 0 {
		return ErrDecode
	}
	l.initValue(&out, l.imageType)
	l.getProperty(operation, "out", &out)
	defer l.unsetValue(&out)
	return use(l.getObject(&out))
}

func (l *Library) header(image uintptr) Header {
	h := Header{Width: int(l.width(image)), Height: int(l.height(image)), Bands: int(l.bands(image)),
		Format: int(l.format(image)), Space: int(l.space(image))}
	const profile = "icc-profile-data"
	if l.kindOf(image, profile) == 0 {
		return h
	}
	var data unsafe.Pointer
	var n uintptr
	if l.getBlob(image, profile, &data, &n) == 0 && n > 0 {
		h.Profile = append(h.Profile, unsafe.Slice((*byte)(data), n)...)
	}
	return h
}

// BytesAtOnce is about the size of the rows that are read by one call.
const BytesAtOnce = 96 << 10

// RowsAtOnce is the least number of rows that any loader reads. So many are read at once of a damaged picture.
const RowsAtOnce = 8

// rowsOf returns how many rows make up a number of bytes. Calls are expensive: while one runs, Go gives
// the processor to another thread, and waits for it afterwards. But libvips takes time that grows
// with the square of the rows of one call.
func (h Header) rowsOf(bytes int) int {
	const most = 512
	return max(RowsAtOnce, min(most, bytes/max(1, h.RowBytes()))/RowsAtOnce*RowsAtOnce)
}

// rows reads a picture, some rows at once, and returns how many there are.
func (l *Library) rows(ctx context.Context, image uintptr, h Header, some int,
	use func(y int, rows []byte)) (int, error) {
	region := l.newRegion(image)
	if region == 0 {
		return 0, ErrDecode
	}
	defer l.unref(region)
	for y := 0; y < h.Height; y += some {
		if err := ctx.Err(); err != nil {
			return y, err
		}
		n := min(some, h.Height-y)
		var bytes uintptr
		data := l.fetch(region, 0, int32(y), int32(h.Width), int32(n), &bytes)
		if data == nil {
			return y, errRows
		}
		use(y, unsafe.Slice((*byte)(data), bytes))
		l.free(data)
	}
	return h.Height, nil
}
