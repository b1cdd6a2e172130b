package heif

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Errors about a file. A file that ends too early is io.ErrUnexpectedEOF.
var (
	// ErrUnsupported means that the file is valid as far as read, but cannot be
	// decoded.
	ErrUnsupported = errors.New("not supported")
	// ErrDamaged means that the file violates its format.
	ErrDamaged = errors.New("not valid")
	// ErrMemory means that decoding takes more memory than allowed.
	ErrMemory = errors.New("image too large")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A box is a box of a file (ISO/IEC 14496-12) without its header.
type box struct {
	kind string
	body []byte
	at   int // offset of the body in the file
}

// eachBox visits the boxes in b, which begins at an offset of the file.
func eachBox(b []byte, at int, visit func(box) error) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return io.ErrUnexpectedEOF
		}
		size, head := uint64(binary.BigEndian.Uint32(b)), 8
		switch size {
		case 0: // to the end
			size = uint64(len(b))
		case 1:
			if len(b) < 16 {
				return io.ErrUnexpectedEOF
			}
			size, head = binary.BigEndian.Uint64(b[8:]), 16
		}
		if size < uint64(head) {
			return damaged("a box of %d bytes", size)
		}
		if size > uint64(len(b)) {
			return io.ErrUnexpectedEOF
		}
		if err := visit(box{string(b[4:8]), b[head:size], at + head}); err != nil {
			return err
		}
		b, at = b[size:], at+int(size)
	}
	return nil
}

// A reader reads big-endian numbers. Past the end it reads zeros and is short.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.b, r.short = nil, true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// number reads a number of up to 8 bytes.
func (r *reader) number(bytes int) (v uint64) {
	for _, b := range r.take(bytes) {
		v = v<<8 | uint64(b)
	}
	return v
}

// leb128 reads a number of seven bits per byte, the lowest first, of at most eight bytes.
func (r *reader) leb128() (v uint64) {
	for i := range 8 {
		b := r.number(1)
		v |= b & 0x7f << (7 * i)
		if b < 0x80 {
			break
		}
	}
	return v
}

// version reads what a full box begins with.
func (r *reader) version() (version, flags int) {
	v := r.number(4)
	return int(v >> 24), int(v & 0xffffff)
}

// id reads the number of an item, which is wide from some version on.
func (r *reader) id(wide bool) uint32 {
	if wide {
		return uint32(r.number(4))
	}
	return uint32(r.number(2))
}

func (r *reader) err() error {
	if r.short {
		return damaged("a box ends too early")
	}
	return nil
}
