package matlab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A storage is the type of an element's data.
type storage uint32

const (
	miInt8       storage = 1
	miUint8      storage = 2
	miInt16      storage = 3
	miUint16     storage = 4
	miInt32      storage = 5
	miUint32     storage = 6
	miSingle     storage = 7
	miDouble     storage = 9
	miInt64      storage = 12
	miUint64     storage = 13
	miMatrix     storage = 14
	miCompressed storage = 15
	miUTF8       storage = 16
	miUTF16      storage = 17
	miUTF32      storage = 18
)

// width is the size of a value in bytes, 0 where there are no plain values.
func (s storage) width() int64 {
	switch s {
	case miInt8, miUint8, miUTF8:
		return 1
	case miInt16, miUint16, miUTF16:
		return 2
	case miInt32, miUint32, miSingle, miUTF32:
		return 4
	case miDouble, miInt64, miUint64:
		return 8
	}
	return 0
}

// tagBytes is the size of what goes before an element's data.
const tagBytes = 8

// A cursor reads the bytes of one element.
type cursor struct {
	r     io.Reader
	order binary.ByteOrder
	// left bytes belong to the element and are not read yet; pad bytes follow.
	left, pad int64
}

// read fills p.
func (c *cursor) read(p []byte) error {
	if int64(len(p)) > c.left {
		return fmt.Errorf("needs %d bytes where %d are left: damaged", len(p), c.left)
	}
	c.left -= int64(len(p))
	_, err := io.ReadFull(c.r, p)
	return truncated(err)
}

// element opens the next element inside. It must be closed before c is read on.
func (c *cursor) element() (storage, *cursor, error) {
	var tag [tagBytes]byte
	if err := c.read(tag[:]); err != nil {
		return 0, nil, err
	}
	word := c.order.Uint32(tag[:4])
	if size := word >> 16; size != 0 { // small: up to four bytes lie in the tag
		if size > 4 {
			return 0, nil, fmt.Errorf("a small element of %d bytes: damaged", size)
		}
		return storage(word & 0xffff), &cursor{r: bytes.NewReader(tag[4 : 4+size]), order: c.order, left: int64(size)}, nil
	}
	size := int64(c.order.Uint32(tag[4:]))
	if size > c.left {
		return 0, nil, fmt.Errorf("an element of %d bytes where %d are left: damaged", size, c.left)
	}
	pad := min(-size&7, c.left-size) // elements begin at multiples of 8; the last may lack its padding
	c.left -= size + pad
	return storage(word), &cursor{r: c.r, order: c.order, left: size, pad: pad}, nil
}

// close goes to the end of the element.
func (c *cursor) close() error {
	n := c.left + c.pad
	c.left, c.pad = 0, 0
	_, err := io.CopyN(io.Discard, c.r, n)
	return truncated(err)
}

// small reads a whole element of at most limit bytes.
func (c *cursor) small(limit int64) (storage, []byte, error) {
	s, body, err := c.element()
	if err != nil {
		return 0, nil, err
	}
	if body.left > limit {
		return 0, nil, fmt.Errorf("%d bytes, more than %d: damaged", body.left, limit)
	}
	data := make([]byte, body.left)
	if err := body.read(data); err != nil {
		return 0, nil, err
	}
	return s, data, body.close()
}

var errTruncated = errors.New("the data end too early: truncated or damaged")

func truncated(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}
