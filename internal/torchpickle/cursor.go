package torchpickle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A cursor reads a file from front to back. After the first error it reads zeros, and
// err keeps the error.
type cursor struct {
	data []byte
	at   int
	err  error
}

var errShort = errors.New("the file ends too early")

// fail records the first error.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// bytes returns the next n bytes, which belong to the file.
func (c *cursor) bytes(n uint64) []byte {
	if c.err == nil && n > uint64(len(c.data)-c.at) {
		c.err = errShort
	}
	if c.err != nil {
		return nil
	}
	c.at += int(n)
	return c.data[c.at-int(n) : c.at]
}

// number returns the next n ≤ 8 bytes as a little-endian number.
func (c *cursor) number(n uint64) uint64 {
	var wide [8]byte
	copy(wide[:], c.bytes(n))
	return binary.LittleEndian.Uint64(wide[:])
}

// line returns the text up to the next newline.
func (c *cursor) line() string {
	if c.err != nil {
		return ""
	}
	n := bytes.IndexByte(c.data[c.at:], '\n')
	if n < 0 {
		c.err = errShort
		return ""
	}
	return string(c.bytes(uint64(n) + 1)[:n])
}

// literal requires the next bytes to be these.
func (c *cursor) literal(want, what string) {
	if got := c.bytes(uint64(len(want))); c.err == nil && string(got) != want {
		c.fail("%s", what)
	}
}
